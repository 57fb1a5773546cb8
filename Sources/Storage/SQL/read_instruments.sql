-- Every instrument, by symbol.
SELECT symbol, name, exchange FROM instruments ORDER BY symbol
