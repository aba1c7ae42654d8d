import type { Finality } from './assets.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Every number the contract leaves open, in one place, each with its reason (decisions.md). Numbers that a gateway or a
 * deployment may override are what applies when it does not.
 */
export const POLICY = {
  // Payments
  /** An hour, as the contract says for a missing or non-positive `timeoutSeconds`. */
  timeoutSeconds: HOUR,
  /** The end of time for a deadline: there is no upper bound on `timeoutSeconds`, but there is one on dates. */
  latestDeadline: '9999-12-31T23:59:59Z',
  /** How late a payer may still be captured: a transfer sent in time can take hours on a congested chain. */
  lateCaptureGraceSeconds: DAY,
  /** Beyond a week a late payment is a support case, not an automatic one. */
  lateCaptureGraceMaximumSeconds: 7 * DAY,
  /** Payers reuse addresses; what arrives within three months is at least noticed and booked. */
  watchDays: 90,
  /** A day after a payment came to rest nobody sends to its address any more, or asks where the coins are. */
  balanceWatchSeconds: DAY,
  /** Well inside the contract's "about a minute" for expiry. */
  expiryCheckSeconds: 15,
  /** How long a deadline waits for an indexer that lags, so that a paid payment is not called unpaid. */
  expiryPatienceSeconds: 15 * MINUTE,
  /** Long enough to show a payment that is seen and not yet confirmed, short enough to wait for. */
  sandboxConfirmSeconds: 10,
  /** Simulated deposits of one payment that are too small to decide: anybody who has its link can play more of them, and whoever reads it reads all. */
  sandboxDust: 100,
  /** Deposits of one payment below the dust floor that are listed: whoever sends one in each block for the price of its gas makes no read of the payment slow. */
  dustListed: 100,
  /** Simulated deposits are watched by people. */
  sandboxCheckSeconds: 2,
  /** A day for a block to hold what was sent in time: longer is a free option on the market, for whoever pays miners little. */
  mempoolHoldsPriceSeconds: DAY,
  /** Longer than any grace period, after which nobody asks when coins were first seen. */
  mempoolKeptSeconds: 30 * DAY,
  /** Enough for typing mistakes in a hash, too few for fishing. */
  inquiryAttempts: 5,
  /** The contract's internal wait of select. */
  selectWaitMs: 5_000,
  /** A 202 is answered while the indexer is about to acknowledge: asking again after this usually finds it done. */
  selectRetryAfterMs: 2_000,

  /**
   * Above this a lie about one transfer is worth more than whoever tells it: two providers must tell the transfer itself also where a root covers it, and a
   * single one is not believed in production.
   */
  secondOpinionUsd: '1000',
  /** How long one pass of credits asks providers; what is left is asked in the next one. Blocks go on being applied meanwhile every few seconds. */
  secondOpinionPassMs: 5_000,
  /** A provider answers many at once; more would be more than what its limits leave to the indexer. */
  secondOpinionsAtOnce: 4,
  /** Providers are seconds apart, not minutes. */
  secondOpinionAlertSeconds: 5 * MINUTE,
  /** Paying the same thing twice is worse than waiting for a person: one lying endpoint must not be able to bring it about (decisions 10). */
  deathWitnesses: 2,
  /** Nodes forget where old transactions are (geth after about a year): that one finds none proves something for a while only. */
  absenceProvesDays: 30,
  /** The same in blocks: geth keeps an index of 2,350,000, which fast chains make in days. */
  absenceProvesBlocks: 1_000_000,

  // Prices
  /** Two minutes: longer would give payers a free option on the market, shorter would fail on one slow provider. */
  priceFreshSeconds: 2 * MINUTE,
  /** A source further than 5 % from the median is broken, not early. */
  priceOutlierBps: 500,
  /** A price that doubles or halves within an hour of the last believed one is taken for a mistake of its sources for that hour. */
  priceBandFactor: 2,
  priceBandSeconds: HOUR,
  /** How many must be configured: three coin markets outvote a broken one; daily currency rates need a second opinion only. */
  priceSourcesMinimum: { crypto: 3, fiat: 2 },
  /** How many must agree on one price, so that a price survives the loss of a source and never rests on one word. */
  priceSourcesAgreeing: 2,
  /** Half a minute: four chances before a price is too old to be used. */
  pricePollSeconds: 30,
  /** Daily rates are asked for politely, and kept long enough to sit through a few failures. */
  priceReferencePollSeconds: HOUR,
  priceReferenceKeptSeconds: 6 * HOUR,
  /** A market answers in a second or is of no use this round. */
  priceSourceDeadlineMs: 5_000,
  /** A source that keeps failing is asked less and less often, but at least this often. */
  priceBackoffMaximumSeconds: 10 * MINUTE,
  /** A source may ask for a longer pause, but not switch itself off for days. */
  priceRetryAfterMaximumSeconds: HOUR,
  /** A payment that waits this long for a price needs a person. */
  priceWaitAlertSeconds: 5 * MINUTE,

  // Webhooks
  /** Pause before each attempt: 2 h 42 m 30 s in all, the contract's "6 attempts over about 2.7 hours". */
  webhookPausesSeconds: [0, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR],
  /** Spreads a recovering receiver's load; only ever lengthens a pause. */
  webhookJitterPercent: 5,
  /** A receiver is told to answer 200 quickly; slower than this it is treated as down. */
  webhookDeadlineMs: 10_000,
  /** Taken so that a receiver can finish its answer; what goes on longer is cut off. */
  webhookReadBytes: 65_536,
  /** What is kept and shown of it: an error message fits. */
  webhookAnswerBytes: 1_024,
  /** A receiver that fails is mended within the month, or nobody is going to. */
  webhookAnswersKeptDays: 30,
  /** Fifteen megabytes at the very most, of which one gateway fills its own only. */
  webhookAnswersPerGateway: 5_000,
  /** Tests of a receiver that one gateway may send a minute: somebody who tries something out, and no load for whoever the URL belongs to. */
  webhookTestsPerMinute: 10,
  /** Payments in which the URL to test is looked for when none is named. */
  webhookTestLooksAt: 100,
  /** A receiver may postpone one attempt by a day; more would only lose the webhook. */
  webhookRetryAfterMaximumSeconds: DAY,
  /** Failed jobs that one act runs again: the queue is refilled in steps that a person sees, and the log has the id of each. */
  jobsRetriedAtOnce: 500,
  /** Payments whose webhooks a person may have sent again by one act. */
  webhooksResentAtOnce: 100,
  /** A click storm on "resend" becomes one request every two seconds. */
  webhookResendSpacingSeconds: 2,
  /** Webhooks in flight that a worker began itself when it had committed them: enough for payments one by one, while those of a flood go to whichever worker is free. */
  webhooksBegunAtOnce: 16,
  /** Webhooks in one process, those of the schedule and resends each: what shares of those in flight are of, and how many there are in memory. */
  webhookLanes: {
    together: 64,
    /** So many that those which wait a moment for a quick host are not put back, where to come back costs as much as to be sent. */
    places: 256,
    /** One host is never sent more at a time, so that one which answers slowly holds up itself only. */
    perTarget: 4,
    /** A host that let several attempts in a row of a gateway run into the deadline gets one at a time for all such gateways, until it answers them again. */
    perSlowTarget: 1,
    /** Half of all, so that whatever answers has the rest, however many receivers are away at once (those of one provider, say). */
    slowTargets: 32,
    /** A quarter of all, so that many slow hosts of one merchant leave room for everybody else's. */
    perTenant: 16,
    /** Four or forty merchants with many slow hosts leave room as well. */
    tenantShare: 1 / 4,
  },
  /** Cashouts that are planned, and payouts that are handed to a network, each in one process: a network whose nodes do not answer keeps no other from its own. */
  networkLanes: {
    together: 12,
    places: 12,
    /** Those of one wallet wait for each other anyway. */
    perTarget: 4,
    perSlowTarget: 1,
    slowTargets: 6,
    /** A network is its own tenant: two wait in memory for the four. */
    perTenant: 6,
    tenantShare: 1,
  },
  /** A run that takes so long waited for nodes that do not answer. */
  networkSlowMs: 5_000,
  /** Both secrets sign for a day, so that a receiver can be changed without losing an event. */
  webhookSecretOverlapSeconds: DAY,

  // Requests
  /** The contract's five minutes of clock skew. */
  signatureSkewSeconds: 300,
  /** Twice the skew, the part of a second that both ends leave out, and a minute for clocks of ours that differ: no signature is acceptable longer. */
  signatureMemorySeconds: 660,
  /** No request of this API needs more. */
  bodyBytes: 65_536,
  /** Beyond this a body is an attack on the parser. */
  bodyDepth: 8,
  /** Contract 8. */
  metadataBytes: 4_096,
  /** Much longer than a parked cashout lives, so a retry of its create is always recognised. */
  idempotencyKeptDays: 90,
  /** A duplicate waits for the first request to finish; one that takes longer than this is stuck. */
  idempotencyWaitMs: 10_000,
  idempotencyKeyLength: 255,
  /** Keys of one gateway that work or were made within a day: one for each of its programs and people, and an end to a loop that makes them. */
  apiKeysPerGateway: 100,
  /** More servers than one merchant has. */
  allowlistEntries: 200,
  /** More than an approver can keep in mind. */
  policiesPerGateway: 20,
  /** More than a cashout can wait for. */
  approversMaximum: 5,
  /** Versions of policies that a page shows. */
  policyVersionsShown: 20,
  /** Cashouts that a change of policies is tried on. */
  policyTrialCashouts: 100,
  /** More addresses than the servers of one merchant have. */
  apiKeyAddresses: 50,
  /** A month says how many checks a gateway buys, and follows when it grows. */
  screeningDaysTold: 30,
  /** Twice that. */
  screeningDaysKept: 60,
  /** Entries that a gateway makes in its address book by hand: more than people can tell apart. */
  addressesByHand: 1_000,
  /** The same with those that were hidden since: an end to a loop that makes and hides them. */
  addressesByHandEver: 10_000,
  /** One line beside an address. */
  addressLabel: 100,
  /** A merchant looks for a server that is not let in within days. */
  refusalsKeptDays: 7,
  /** Refusals of a gateway and operation that are told apart in an hour: more than the servers of one merchant that are let in nowhere. */
  refusedRowsPerHour: 20,
  /** Pause between two writes of refusals: a flood of them costs one a second. */
  refusalsPauseMs: 1_000,
  /** A program that fails is looked at within days. */
  requestsKeptDays: 7,
  /** Of a gateway's requests that failed, and of those that did not, each: some megabytes, which one gateway fills with its own only. */
  requestsKeptPerGateway: 10_000,
  /** Requests of one gateway and kind between two writes of one process: several times what any server sends in a second. */
  requestsNotedAtOnce: 500,
  /** Rows of one write: some milliseconds, for which other processes may wait. */
  requestsWrittenAtOnce: 2_000,
  /** Pause before the first write of requests, so that one who calls a few times in a row is noted at once. */
  requestsGatheredMs: 250,
  /** Pause between two writes of requests: what a process that dies may lose. */
  requestsPauseMs: 1_000,
  /** Calls with an API key, and calls about API-mode payments, come from a server and may be this many times as frequent. */
  rateLimitServerFactor: 10,
  /**
   * What is called at least so often a minute is taken from Redis several calls at a time, for those whose large budget was earned. Approvals, inquiries
   * and sign-ins are below it: each of them is asked about.
   */
  rateLimitAheadFrom: 300,
  // Sockets of checkout pages
  /** More than the pages one household or office has open at once; a page without a socket asks over HTTP instead. */
  socketsPerClient: 100,
  /** In one process: some hundred megabytes when all of them are taken. */
  sockets: 10_000,
  /** A command is a hundred bytes. */
  socketMessageBytes: 4_096,
  /** Proxies cut what is silent for a minute, some for half of one. */
  socketPingSeconds: 25,
  /** Several snapshots of the largest payment; who is further behind reads no more. */
  socketBacklogBytes: 262_144,
  /** Commands of one page that may be worked on at once: a payer who changes their mind while an address is prepared. */
  socketCommandsAtOnce: 4,
  /** Messages nobody understands, until their sender is taken for no page of ours. */
  socketNonsense: 10,
  /** Messages of one page between two pings: more than anybody could press buttons. */
  socketMessagesPerPing: 50,
  // Pages of the console that follow what they show
  /** Fewer than the six connections that a browser keeps to one host: only tabs in front have one. */
  streamsPerPerson: 4,
  /** Of one gateway's people together, and of operators; pages without one look again by themselves. */
  streamsPerPlace: 40,
  /** In one process. */
  streams: 400,
  /** One query for everything that is followed. */
  streamLookMs: 2_000,
  /** After this it is asked anew whether whoever reads may still do so; the end of a session is noticed at the next look. */
  streamAdmitSeconds: 30,
  /** A browser opens it again; what was forgotten to be closed ends by itself. */
  streamSeconds: 1_800,

  listLimit: 20,
  listLimitMaximum: 100,
  /** Rows of one gateway that a page looks through for what no index of theirs has: some milliseconds, whoever asks for something rare. */
  listLookedThrough: 5_000,

  /** Rows of an export that are read and written in one transaction: some tens of milliseconds, and whoever waits is next after them. */
  exportPartRows: 1_000,
  /** Where rows are large, as many as come to about this, judged by those before them; the first part has a tenth of the rows. */
  exportPartBytes: 4 * 1024 * 1024,
  /** A file is kept, and read, in pieces of this: a hundred slow downloads are some tens of megabytes. */
  exportPieceBytes: 256 * 1024,
  exportRows: 1_000_000,
  exportBytes: 256 * 1024 * 1024,
  /** Parts that could not be made in a row until an export is given up. */
  exportFailures: 10,
  /** Exports of one gateway that are made at once, and that are kept. */
  exportsMaking: 2,
  exportsKept: 40,
  /** What the files that are kept come to at most before another one may be asked for, as they are read: eight of the largest. */
  exportsKeptBytes: 2 * 1024 * 1024 * 1024,
  exportsKeptDays: 7,
  /** Gateways that one look asks for a file of the month of; the next one is a minute away. */
  monthlyExportsAtOnce: 100,
  monthlyExportsSeconds: 60,

  /** Two weeks show a trend and its weekends; a year and a month can be held against the year before. */
  seriesDays: 14,
  seriesDaysMaximum: 400,
  /** Some hundred kilobytes, for which a payment that is looked at every few seconds is asked about once. */
  openedRemembered: 10_000,

  // Mail to people
  /** Of one kind to one person, of one gateway where it is about one. */
  noticesPerHour: 10,
  /** Whoever reads more mail than this from one place reads none of it; the rest comes in the next one. */
  notificationsPerHour: 6,
  notesInMail: 500,
  linksInMail: 20,
  /** People who are told of one gateway: whatever happens there is noted for each of them. */
  notifiedOfGateway: 50,
  /** People that one look mails; the next one is half a minute away. */
  notifiedAtOnce: 100,
  /** Longer than anything that is told could be found again by looking. */
  notificationsKeptDays: 30,
  /** A tenth of what was ever given, and never less than a handful, is little. */
  fewCredits: 10,
  fewCreditsShare: 10,

  // The hosted checkout
  /** In a form it is a third longer, and a field has 16 KB: enough for a sharp logo, and for nothing else. */
  uploadedLogoBytes: 12_000,
  /** Nobody sees less, and what unfolds to more costs a phone its memory. */
  logoSides: { least: 16, most: 512 },
  /** Two megabytes at most. */
  brandStylesKept: 100,
  /** With everything else the page stays below 80 KB. */
  logoBytes: 24_576,
  /** A page without a logo is complete: nobody waits long for one. */
  logoDeadlineMs: 5_000,
  /** A new logo shows within the hour. */
  logoKeptSeconds: HOUR,
  /** A host that was down for a moment is asked again soon, and not at every page. */
  logoRetrySeconds: MINUTE,
  /** Five megabytes at most. */
  logosKept: 200,

  // Settlements
  /** Parked cashouts hold nothing but attention; twenty are a queue, more are a loop in a client. */
  parkedCap: 20,
  /** Contract: about once a minute. */
  parkedCheckSeconds: MINUTE,
  /** Short against that minute, so that a minute does not become two. */
  parkedLookSeconds: 10,
  /** Contract: auto-rejected after seven days. */
  parkedDays: 7,
  /** Long enough for somebody in another part of the world to confirm, short enough that nothing forgotten is done by accident. */
  proposalSeconds: DAY,
  /** When an asset has no minimum of its own: below a dollar the network fee eats the cashout. */
  minimumSettlementUsd: '1',
  /** Time to notice fraud before coins leave; zero in development, where nobody waits a day. */
  maturitySeconds: { production: DAY, development: 0 },

  // Payouts on their way
  /** How often those on their way are looked after: short against everything below. */
  payoutTendSeconds: 5,
  /** Fees move within minutes: a plan nobody signed in this time is quoted again. */
  payoutQuoteSeconds: 2 * MINUTE,
  /** A fee that is paid no block wants for a minute and three blocks is too low, not unlucky. */
  payoutBumpSeconds: MINUTE,
  payoutBumpBlocks: 3,
  /**
   * A token transfer may take this many times the gas or energy it was quoted, because its recipient moved the tokens it had in the
   * meantime: the dearest known difference is twice. Native coins may not: what is more than was quoted is the recipient's own code.
   */
  tokenUnitsTimesQuoted: 3,
  /** What the deployment pays a day and network when fees rise above what was locked; beyond it cashouts wait for them to fall. */
  feeExpenseDailyUsd: '50',
  /** A quarter of that for one gateway at most, so that there is some for four. */
  feeExpensePerGateway: 4,
  /** A quarter of every limit is kept for all gateways that may cash out, in equal parts: however much one sends, another can send. */
  limitKeptForAll: 4,
  /** Payouts of one gateway that may wait for a block at once, per wallet, where others may cash out as well: their nonces are used in order. */
  noncesPerGateway: 64,
  /** Coins that were swept for a cashout are kept for it this long: the run after their block takes seconds, and one that is stuck keeps nothing from others. */
  broughtKeptSeconds: 5 * MINUTE,
  /** Cashouts of one gateway that cannot go are looked at about this often a minute, however many there are. */
  waitingLooksPerMinute: 20,
  /** The longest that a cashout which cannot go is left alone. */
  waitingPauseSeconds: 15 * MINUTE,
  /** Attempts at one transfer: seven raises of an eighth more than double the fee, and each also follows the market. */
  payoutAttempts: 8,
  /** A transfer that could not be sent for this long gives its nonce back: long enough to sit through a spike or an odd node. */
  payoutCloseSeconds: 15 * MINUTE,
  /** One that the network refuses while others wait behind its nonce gives it back this soon: their cashouts are not its destination's hostages. */
  payoutHostageSeconds: MINUTE,
  /** Nothing waits behind an anchor, and bytes that cost too little now are taken when fees fall; after days a person would ask. */
  anchorCloseSeconds: 3 * DAY,
  /** Bytes that expire must have this long to live when they are signed, and a plan this long to still reach the signer. */
  payoutExpiryMarginSeconds: 15,
  payoutRequoteMarginSeconds: 25,
  /** Nothing may be signed that stays valid longer: a wallet would wait that long before it may try again. */
  payoutExpirySeconds: HOUR,
  /**
   * Satoshis per virtual byte of a Bitcoin payout: what every node passes on; several times what blocks took at their busiest
   * for more than hours; what gets into a block within the hour on most days, while no node can tell. Half an hour is soon
   * enough for a cashout.
   */
  bitcoinFeeRate: { floor: '1', cap: '500', fallback: '5', targetBlocks: 3 },

  /**
   * A cashout that would spend more outputs than this has them joined first: twenty cost ten times what was locked for one, which
   * is as much as any fee may be (limits). Joining them is the deployment's expense (decision 0031).
   */
  bitcoinPaymentInputs: 20,
  /**
   * Outputs of a pool are joined by themselves above two hundred, which is what one transaction ever spends; while a virtual byte
   * costs five satoshis or less, as it does on most nights; for a hundred dollars a day and network. Only outputs worth ten times
   * what spending them costs: whoever sends smaller ones must not use that up.
   */
  bitcoinConsolidation: { aboveOutputs: 200, belowFeeRate: '5', dailyUsd: '100', worthTimesCost: 10 },
  /** Outputs joined in one transaction: a second of signing, and an eighth of the largest one that nodes pass on. */
  consolidationInputs: 200,
  /** What joining for cashouts may cost a day while fees are above the threshold, in budgets of a day; then they wait for fees to fall. */
  preparationBudgetTimes: 10,
  /** Such transactions of a wallet on their way at once: what they spend pays nobody until they are final. */
  consolidationsAtOnce: 5,
  /** The same for a cashout that waits for them, which takes all it needs. */
  preparationsAtOnce: 25,
  /** Fees fall for hours, not for minutes. */
  consolidationSeconds: 10 * MINUTE,

  // Sweeping
  /** How often deposits worth sweeping are looked for, and sweeps on their way are taken a step further. */
  sweepSeconds: MINUTE,
  /** A deposit is swept by itself once it is worth twenty times what that costs: five per cent of it, at the very most, go in fees. */
  sweepFloorTimesCost: 20,
  /** One funding wallet sends the gas for all of them, and its nonces are used in order: a few at once keep the queue short. */
  sweepsAtOnce: 5,
  /** Coins lie this long after their last credit first: second transfers are then taken along, and a cashout may want them sooner anyway. */
  sweepRestSeconds: 10 * MINUTE,
  /** After a sweep that failed for good nothing is swept from its address for this long: whatever made it fail costs a fee each time, and a cashout may wait for it. */
  sweepRetrySeconds: 10 * MINUTE,
  /** Below gas for this many sweeps the operator is told to fill the funding wallet: a working day of them, rather than the moment it is empty. */
  fundingLowSweeps: 50,
  /** How often refunds and releases of held coins are looked at. */
  heldOrderSeconds: 5,
  /** The largest part of the time that looking for coins of payments that changed their pool may take: it goes through all that ever did, and payers with flagged coins make them. */
  misplacedMostOfTime: 0.02,
  /** How often hot wallets are held against their ceilings and floors: what is above one for a minute is no more in danger than what came in that minute. */
  coldSeconds: 60,
  /** After a move to cold storage that failed for good nothing is moved for this long: whatever made it fail costs a fee each time. */
  coldRestSeconds: HOUR,
  /**
   * How many addresses of an asset the chain is asked about each minute, beside wallets and those where credited coins lie: of deposits that nobody owns the largest, which
   * hold nearly all of their value; a thousand where something moved, more than busy minutes bring; and of those at rest as many as come round in a day where 288,000 are.
   */
  holdingsAsked: { unallocated: 200, touched: 1_000, resting: 200 },
  /** How often it is tried whether issuers let our wallets move their tokens: payers must not go on paying in one that cannot be paid out. */
  issuerWatchSeconds: 60,
  /** How often endpoints are asked for what they lacked before: a coin that nobody could watch is offered again soon after one can. */
  lacksWatchSeconds: 60,
  /** How often a deposit address that an issuer stopped is tried again: that hardly ever changes. */
  issuerRetrySeconds: 10 * MINUTE,
  /** Transfers whose fees a move of native coins leaves in the hot wallet beside its floor: twice what it is given when it has none. */
  coldGasTransfers: 40,

  // Screening
  /** The score from which providers themselves say "high". */
  screeningThreshold: 70,
  /** Decisions: a deposit without a verdict is retried every minute. */
  screeningRetrySeconds: MINUTE,
  /** Deposits that are screened in one process: a gateway whose payers send what a provider takes long about keeps no other from its verdicts. */
  screeningLanes: {
    together: 8,
    places: 8,
    perTarget: 4,
    perSlowTarget: 1,
    slowTargets: 6,
    /** A gateway is its own tenant: two wait in memory for the four. */
    perTenant: 6,
    tenantShare: 1,
  },
  /** A run that takes so long waited for the provider, whose deadline is longer. */
  screeningSlowMs: 5_000,
  /** A verdict is bought once: retries and replays within a day use it again. */
  destinationVerdictSeconds: DAY,
  /** A merchant waits for this answer, and its own request is given ten seconds. */
  screeningDeadlineMs: 8_000,
  /** Between two questions about a check that the provider still works on. */
  screeningPollMs: 1_000,
  /** A check that takes an hour was forgotten: it is ordered anew, or its credit given back. */
  screeningPendingSeconds: HOUR,
  /** A longer answer is an accident or an attack. */
  screeningAnswerBytes: 1_000_000,
  /** Sanctions take effect when they are published; a file is looked at this often. */
  sanctionsListCheckSeconds: 30,

  // People
  /** A link that makes somebody a member, or lets them in again, works once within a day. */
  invitationSeconds: DAY,
  /** Links to one gateway that may be open at once. */
  openInvitations: 100,
  /** A browser that nobody uses is signed out after a working day, and any browser after a week. */
  sessionIdleSeconds: 12 * HOUR,
  sessionSeconds: 7 * DAY,
  sessionsPerPerson: 20,
  passkeysPerPerson: 20,
  /** A mailed link is used by whoever just asked for it. */
  signInLinkSeconds: 15 * MINUTE,
  /** Of one person in that time: enough for mail that is late, too few to fill anybody's mailbox. */
  signInLinksPerPerson: 3,
  recoveryCodes: 10,
  /** Whoever sets up an authenticator types its first code while they do it. */
  authenticatorStartSeconds: 15 * MINUTE,
  /** What ended (sessions, links, authenticators, codes on paper that were used) is looked at for as long, where somebody asks who was in; acts themselves stay. */
  signInsKeptDays: 90,
  /** Somebody signs in at a provider, perhaps with a second factor there. */
  providerSignInSeconds: 10 * MINUTE,
  /** Whom an operator let in is not one of two people before the others can have read of it. */
  newOperatorSeconds: DAY,
  /** Somebody has to find their phone. */
  challengeSeconds: 5 * MINUTE,

  // Receipts by mail
  /** Mails of one payment, and mails to one mailbox whoever's payments they are of, in this time (decision 0087). */
  receiptMails: 3,
  receiptMailSeconds: DAY,
  /** Of one gateway: above it, its mails would cost all others the good name of the deployment's sender. */
  receiptMailsPerGateway: 1_000,

  // Authenticator codes
  totpStepSeconds: 30,
  /** One step either way covers a slow typist. */
  totpWindowSteps: 1,
  totpFailuresUntilLock: 5,
  totpLockSeconds: 15 * MINUTE,

  // Audit
  /** A check of the audit looks at everything in a night (UTC hours) when it last did so longer ago than this, and by day when it missed a night. */
  auditWholeHours: 12,
  auditMissedHours: 30,
  auditNight: { from: 1, until: 5 },

  // Jobs
  /** Finished work is looked at for a week at most; after that its own tables tell all there is to tell. */
  doneJobsKeptDays: 7,

  // Ingestion
  /** How far an indexer may run ahead of the consumer; bounds memory in Redis while Postgres is away. */
  messagesAhead: 256,
  /** The same in characters, of which a message may have 32 million: a flood in every block must fill neither Redis nor the consumer, which reads many at once. */
  charactersAhead: 64 * 1024 * 1024,
  /**
   * Most transfers of one asset to one address in one block that a message lists one by one; more are written packed, which builds before
   * schema 0031 refuse to read (decision 0030). No payment is paid in so many, so those builds only ever stop for a flood.
   */
  transfersUnpacked: 1_000,
  /** Most sightings of a message that is otherwise written one by one: they are some four hundred characters each, of 32 million. */
  sightingsUnpacked: 50_000,
  /**
   * Most of them that are booked each by itself; more become one row. Wallets that split a payment make a handful, and 8 rows cost nobody
   * anything (decision 0030).
   */
  transfersAlone: 8,
} as const;

/** Calls per minute and source IP by operation; a burst of the whole minute is allowed (decisions 8). */
export const RATE_LIMITS: Readonly<Record<string, number>> = {
  createPayment: 600,
  createOpenAmountPayment: 600,
  previewPayment: 600,
  verifyPayment: 1_200,
  listPayments: 1_200,
  listAssets: 1_200,
  listPaymentWebhooks: 1_200,
  explainPayment: 1_200,
  getPayment: 1_200,
  listWebhooks: 1_200,
  listLedger: 1_200,
  listCredits: 1_200,
  getStatement: 1_200,
  getScreening: 1_200,
  listAddresses: 1_200,
  addAddress: 60,
  renameAddress: 60,
  hideAddress: 60,
  getPublicPayment: 300,
  openPaymentSocket: 120,
  selectOffer: 120,
  expirePayment: 60,
  simulateSandboxPayment: 60,
  resendPaymentWebhook: 60,
  testWebhook: 60,
  // Each call may cost a chain lookup on every network.
  inquirePayment: 20,
  listBalances: 1_200,
  getSettlement: 1_200,
  listSettlements: 1_200,
  estimateSettlementFee: 120,
  createSettlement: 120,
  retrySettlement: 120,
  cancelSettlement: 120,
  // A six-digit code is guessed here if anywhere.
  approveSettlement: 10,
  listKeys: 1_200,
  createKey: 10,
  revokeKey: 60,
  listRefusedRequests: 1_200,
  listRequests: 1_200,
  getAllowlists: 1_200,
  createExport: 60,
  listExports: 1_200,
  getExport: 1_200,
  getExportFile: 60,
  getSeries: 600,
  getFunnel: 600,
};

/** The same for what is no operation of the contract; documentation and health are not limited, but for its search. */
export const EDGE_RATE_LIMITS = {
  /** Paths and methods that do not exist, all together: plenty for a typing mistake, little for a scanner. */
  unknown: 120,
  /** The operator API, all of it together; a console with the token gets ten times as much. */
  operator: 120,
  /** The search of the documentation where scripts are off: a form that is sent by hand. */
  docsSearch: 120,
  /** A checkout page shows a few dozen, and caches them for a day. */
  logo: 1_200,
  /** A page is opened, its language changed, looked at again by hand where scripts are off: several a second is nobody. */
  checkoutPage: 300,
  /** A page whose socket is down asks every three seconds; many payers share an address. */
  readSnapshot: 300,
  /** A form that is sent by hand, to an address that is typed. */
  receiptMail: 10,
  /** Programs and styles of the page: two a visit, and kept for ever. */
  checkoutAsset: 1_200,
  /** Somebody who works in the console opens a page every few seconds. */
  consolePage: 300,
  /** Signing in is two of them; nobody signs in more often than a few times a minute. */
  consoleForm: 60,
  /** What the console asks the http role for on behalf of one address: as many as its forms, and what a second console lets through. */
  peopleDesk: 120,
  /** The same on behalf of one person who is signed in there, from wherever they ask. */
  peopleDeskPerson: 120,
  /** Acts of one person that take no proof, all together: one every three seconds is as fast as anybody means them. */
  unprovedAct: 20,
  /** The same for what must never wait for those: stopping cashouts. */
  urgentAct: 20,
  /** The same for all strangers together, as a console that a stranger holds may name any address: a few hundred people at once, and too little to fill a table with. */
  peopleDeskAll: 3_000,
} as const;

/**
 * When a payment resolves and when its funds mature, by kind of network (decisions 5). A networks file names its own;
 * these are what `networks.ts` gives to those it knows.
 */
export const FINALITY: Readonly<Record<'ethereum' | 'fastFinality' | 'rollup' | 'tron' | 'bitcoin' | 'local', Finality>> = {
  /** Twelve blocks were never reorganised since the merge; larger sums wait for an attested checkpoint. */
  ethereum: { resolve: [{ upToUsd: '10000', rule: { blocks: 12 } }, { rule: { tag: 'safe' } }], mature: { tag: 'finalized' } },
  /** Fast finality is seconds here, and reorganisations before it are routine. */
  fastFinality: { resolve: [{ rule: { tag: 'finalized' } }], mature: { tag: 'finalized' } },
  /** Safe means posted to L1; before that one sequencer's word is all there is. */
  rollup: { resolve: [{ rule: { tag: 'safe' } }], mature: { tag: 'finalized' } },
  /** Solidified by two thirds of the representatives. */
  tron: { resolve: [{ rule: { tag: 'finalized' } }], mature: { tag: 'finalized' } },
  /** The cost of rewriting one, two or six blocks against the sum at stake; one more before it can be paid out. */
  bitcoin: {
    resolve: [
      { upToUsd: '1000', rule: { blocks: 1 }, mature: { blocks: 2 } },
      { upToUsd: '50000', rule: { blocks: 2 }, mature: { blocks: 3 } },
      { rule: { blocks: 6 } },
    ],
    mature: { blocks: 7 },
  },
  /** Nobody attacks a local chain; two blocks still exercise the waiting. */
  local: { resolve: [{ rule: { blocks: 2 } }], mature: { blocks: 2 } },
};
