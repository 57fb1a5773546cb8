package import Postgres

/// Every statement of this room, one `.sql` file each. Prepared on every connection at its start, so that a broken statement stops the start, not a trade.
package enum SQL {
    static let accountOfCredential = Statement("account_of_credential")
    static let advanceEvents = Statement("advance_events")
    static let advanceSession = Statement("advance_session")
    static let advanceShards = Statement("advance_shards")
    static let advanceWatch = Statement("advance_watch")
    static let beginVerify = Statement("begin_verify")
    static let carryEntries = Statement("carry_entries")
    static let changeBalances = Statement("change_balances")
    static let changeCredential = Statement("change_credential")
    static let changeTerms = Statement("change_terms")
    static let clearChallenge = Statement("clear_challenge")
    static let commitUnflushed = Statement("commit_unflushed")
    static let countOrderBlocks = Statement("count_order_blocks")
    static let deleteCancelTimer = Statement("delete_cancel_timer")
    static let deleteHalt = Statement("delete_halt")
    static let deleteOldEvents = Statement("delete_old_events")
    static let deleteOldInbox = Statement("delete_old_inbox")
    static let deleteOldSent = Statement("delete_old_sent")
    static let insertAccount = Statement("insert_account")
    static let insertCredential = Statement("insert_credential")
    static let insertCredentialAudit = Statement("insert_credential_audit")
    static let insertEntries = Statement("insert_entries")
    static let insertExecutions = Statement("insert_executions")
    static let insertHalt = Statement("insert_halt")
    static let insertInbox = Statement("insert_inbox")
    static let insertKeys = Statement("insert_keys")
    static let insertLog = Statement("insert_log")
    static let insertOperatorAudit = Statement("insert_operator_audit")
    static let insertOrders = Statement("insert_orders")
    static let insertSent = Statement("insert_sent")
    static let listOrders = Statement("list_orders")
    static let lockAllShards = Statement("lock_all_shards")
    static let lockCancelTimer = Statement("lock_cancel_timer")
    static let lockParts = Statement("lock_parts")
    static let lockSession = Statement("lock_session")
    static let lockShards = Statement("lock_shards")
    static let makeParts = Statement("make_parts")
    static let noteAsked = Statement("note_asked")
    static let openBalances = Statement("open_balances")
    static let orderByID = Statement("order_by_id")
    static let parkReports = Statement("park_reports")
    static let raiseAlarms = Statement("raise_alarms")
    static let readAccounts = Statement("read_accounts")
    static let readAllBalances = Statement("read_all_balances")
    static let readBacklog = Statement("read_backlog")
    static let readBalances = Statement("read_balances")
    static let readCredentialStates = Statement("read_credential_states")
    static let readCredentials = Statement("read_credentials")
    static let readDetachCommand = Statement("read_detach_command")
    static let readDueCancelTimers = Statement("read_due_cancel_timers")
    static let readEventBounds = Statement("read_event_bounds")
    static let readEvents = Statement("read_events")
    static let readExecutions = Statement("read_executions")
    static let readHalts = Statement("read_halts")
    static let readInbox = Statement("read_inbox")
    static let readKey = Statement("read_key")
    static let readKeys = Statement("read_keys")
    static let readLog = Statement("read_log")
    static let readLogEnds = Statement("read_log_ends")
    static let readOpenOrders = Statement("read_open_orders")
    static let readOrdersAtVenue = Statement("read_orders_at_venue")
    static let readOrdersByID = Statement("read_orders_by_id")
    static let readOutbox = Statement("read_outbox")
    static let readOverdueOrders = Statement("read_overdue_orders")
    static let readPartObstacle = Statement("read_part_obstacle")
    static let readParts = Statement("read_parts")
    static let readSent = Statement("read_sent")
    static let readSessionUsed = Statement("read_session_used")
    static let readSilentOrders = Statement("read_silent_orders")
    static let readTableSizes = Statement("read_table_sizes")
    static let readUnknownOrders = Statement("read_unknown_orders")
    static let readVenueUp = Statement("read_venue_up")
    static let readWholeTables = Statement("read_whole_tables")
    static let releaseLease = Statement("release_lease")
    static let resetSession = Statement("reset_session")
    static let setCancelTimer = Statement("set_cancel_timer")
    static let setLoggedOn = Statement("set_logged_on")
    static let takeLease = Statement("take_lease")
    static let updateOrders = Statement("update_orders")
    static let verifyAlarms = Statement("verify_alarms")
    static let verifyBalances = Statement("verify_balances")
    static let verifyCounters = Statement("verify_counters")
    static let verifyEntries = Statement("verify_entries")
    static let verifyEvents = Statement("verify_events")
    static let verifyFills = Statement("verify_fills")
    static let verifyHolds = Statement("verify_holds")
    static let verifyJournals = Statement("verify_journals")
    static let verifyKeys = Statement("verify_keys")
    static let verifyLog = Statement("verify_log")
    static let verifyOrderEntries = Statement("verify_order_entries")
    static let verifyOrderHolds = Statement("verify_order_holds")
    static let verifySigns = Statement("verify_signs")
    static let verifyVenueOrders = Statement("verify_venue_orders")

    /// All of them but BEGIN, COMMIT and ROLLBACK, which a connection prepares by itself.
    package static let all: [Statement] = [
        accountOfCredential, advanceEvents, advanceSession, advanceShards, advanceWatch, beginVerify,
        carryEntries, changeBalances, changeCredential, changeTerms, clearChallenge, commitUnflushed,
        countOrderBlocks, deleteCancelTimer, deleteHalt, deleteOldEvents, deleteOldInbox, deleteOldSent,
        insertAccount, insertCredential, insertCredentialAudit, insertEntries, insertExecutions, insertHalt,
        insertInbox, insertKeys, insertLog, insertOperatorAudit, insertOrders, insertSent, listOrders,
        lockAllShards, lockCancelTimer, lockParts, lockSession, lockShards, makeParts, noteAsked, openBalances,
        orderByID, parkReports, raiseAlarms, readAccounts, readAllBalances, readBacklog, readBalances,
        readCredentialStates, readCredentials, readDetachCommand, readDueCancelTimers, readEventBounds,
        readEvents, readExecutions, readHalts, readInbox, readKey, readKeys, readLog, readLogEnds, readOpenOrders,
        readOrdersAtVenue, readOrdersByID, readOutbox, readOverdueOrders, readPartObstacle, readParts, readSent,
        readSessionUsed, readSilentOrders, readTableSizes, readUnknownOrders, readVenueUp, readWholeTables,
        releaseLease, resetSession, setCancelTimer, setLoggedOn, takeLease, updateOrders, verifyAlarms,
        verifyBalances, verifyCounters, verifyEntries, verifyEvents, verifyFills, verifyHolds, verifyJournals,
        verifyKeys, verifyLog, verifyOrderEntries, verifyOrderHolds, verifySigns, verifyVenueOrders,
    ]
}
