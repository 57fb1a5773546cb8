-- What symbols stand for, and the history of their prices. No order depends on any of it.

CREATE TABLE instruments (
    updated_at bigint NOT NULL,
    symbol text PRIMARY KEY,
    name text NOT NULL,
    exchange text NOT NULL,                    -- its code in the calendars
    CONSTRAINT instruments_are_named CHECK (name <> '' AND exchange <> '')
);

-- Prices are whole 1/10,000. source: 1 from the feed, 2 loaded by an operator, 3 simulated.

-- A minute as routers saw it. Each router takes the feed itself, so several write the same minute: the offsets, ms since its beginning, tell whose open and
-- whose close it has.
CREATE TABLE candles_1m (
    open bigint NOT NULL,
    high bigint NOT NULL,
    low bigint NOT NULL,
    close bigint NOT NULL,
    volume bigint NOT NULL,
    minute integer NOT NULL,                   -- minutes since 1970-01-01 UTC
    opened_at integer NOT NULL,
    closed_at integer NOT NULL,
    source smallint NOT NULL,
    symbol text COLLATE "C" NOT NULL,
    PRIMARY KEY (symbol, minute),
    CONSTRAINT prices_lie_between_low_and_high CHECK (low > 0 AND low <= least(open, close) AND greatest(open, close) <= high),
    CONSTRAINT volumes_are_not_negative CHECK (volume >= 0),
    CONSTRAINT sources_are_known CHECK (source BETWEEN 1 AND 3)
);

-- For what is past its keeping. Minutes come in order, so a summary of each stretch of blocks is enough: 1/1,000 of what a full index would take.
CREATE INDEX candles_1m_by_time ON candles_1m USING brin (minute) WITH (autosummarize = on);

-- The regular session of a trading day, kept for ever.
CREATE TABLE candles_1d (
    open bigint NOT NULL,
    high bigint NOT NULL,
    low bigint NOT NULL,
    close bigint NOT NULL,
    volume bigint NOT NULL,
    day date NOT NULL,                         -- in the exchange's zone
    source smallint NOT NULL,
    symbol text COLLATE "C" NOT NULL,
    PRIMARY KEY (symbol, day),
    CONSTRAINT prices_lie_between_low_and_high CHECK (low > 0 AND low <= least(open, close) AND greatest(open, close) <= high),
    CONSTRAINT volumes_are_not_negative CHECK (volume >= 0),
    CONSTRAINT sources_are_known CHECK (source BETWEEN 1 AND 3)
);
