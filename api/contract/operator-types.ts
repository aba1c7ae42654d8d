// Generated from api/contract/operator.yaml by npm run generate; do not edit.
export interface paths {
    "/gateways": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List gateways, newest first */
        get: operations["listGateways"];
        put?: never;
        /**
         * Create a gateway
         * @description Makes the gateway, its first API key and its webhook and cashout secrets. The three secrets are shown in this answer and never again. Everything but `name` has a default.
         */
        post: operations["createGateway"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a gateway and its keys */
        get: operations["getGateway"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a gateway
         * @description Objects merge, arrays replace, `null` brings a field back to its default.
         */
        patch: operations["changeGateway"];
        trace?: never;
    };
    "/gateways/{id}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an API key
         * @description The key is shown once. Without `permissions` it has the six that are the default; others are granted by name only.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways/{id}/api-keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description It stops working at once.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways/{id}/secrets/{kind}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the webhook or the cashout signing secret
         * @description The new secret is current at once; the old one goes on counting for `overlapSeconds` (default 86,400 for webhook, 0 for cashout).
         */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways/{id}/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enrol the authenticator that approves cashouts
         * @description A gateway has one; enrolling again replaces it.
         */
        post: operations["enrolTotp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways/{id}/screening-credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add screening credits
         * @description Verdicts it may buy from now on, beside those it has left. Cashouts that wait for credit are screened with their next check, within a minute.
         */
        post: operations["addScreeningCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/gateways/{id}/withheld": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is kept from a gateway, and what was sent of it
         * @description By asset: all that is withheld, what of it is final, and what transfers that were ordered speak for.
         */
        get: operations["getWithheld"];
        put?: never;
        /**
         * Propose to send coins that are kept from a gateway
         * @description To an address of the deployment's choosing, which bears the fee. Nothing is sent before a second person confirms the proposal (`POST /proposals/{id}/confirm`). Where two people have tokens of their own (`SLUICE_OPERATOR_TOKENS`), the shared one is refused with 409.
         */
        post: operations["payWithheld"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/signer/journal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the signer says of its journal, and how far Postgres knows it
         * @description The signer remembers outside of Postgres what it signed. While it says anything but `open` it signs nothing.
         */
        get: operations["getSignerJournal"];
        put?: never;
        /**
         * Propose that a rebuilt journal is the signer's memory from now on
         * @description What `sluice signer journal reseal` printed on the signer's host. Nothing is signed with it before a second person confirms the proposal (`POST /proposals/{id}/confirm`).
         */
        post: operations["resealSignerJournal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/withheld/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a transfer of withheld coins back
         * @description As long as nothing of it is planned or signed: the coins are kept as before.
         */
        post: operations["cancelWithheld"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List networks and how far each was followed */
        get: operations["listNetworks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the wallets hold, and cold storage beside them
         * @description Every wallet a configuration names, with what the chain says it holds at this moment. Of an asset whose excess goes to cold storage the hot wallet shows its limits, and what the books say lies there.
         */
        get: operations["listWallets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which processes do each role now, since when, and with which database login
         * @description By what is connected to the database at this moment, and the leases of indexers. A host that vanished is noticed within half a minute.
         */
        get: operations["listProcesses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest backups of this database
         * @description What `sluice backup create` completed, newest first, at most 20; backups that other tools make are not known here.
         */
        get: operations["listBackups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{network}/rescan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a range of blocks read again
         * @description Only final blocks. What was missed in them is booked, once; what was already recorded changes nothing. The indexer reads them beside following the chain, and goes on where it was after a restart.
         */
        post: operations["rescanNetwork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{network}/rescans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the blocks that are, or were, read again */
        get: operations["listRescans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{network}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop new addresses and dispatch on a network */
        post: operations["pauseNetwork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{network}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a paused network */
        post: operations["resumeNetwork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/currencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the invoice currencies */
        get: operations["listCurrencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/currencies/{code}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Switch an invoice currency on or off
         * @description New payments are refused in a currency that is off; those that exist are not touched.
         */
        put: operations["setCurrency"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List every asset of the deployment */
        get: operations["listAssets"];
        put?: never;
        /**
         * Add a token
         * @description Contract and decimals are pinned here and never read from the chain. It needs a price before offers can use it.
         */
        post: operations["addAsset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List payments, newest first */
        get: operations["listPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a payment and everything that happened to it */
        get: operations["getPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{id}/aml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release, refund or withhold a held payment
         * @description For a payment whose amlState is HELD. RELEASE moves all that is left of it to the ordinary pool, for good. WITHHOLD keeps it
         *     from its gateway, for good. REFUND orders it back to `address` (gross less the network fee, one transaction per asset), as
         *     long as no cashout has drawn from it or reserved any of it; it reads REFUNDED once the last of them is final. RELEASE and
         *     REFUND also need a verdict about every deposit of it, and nothing can be done while a refund is on its way: 409.
         */
        post: operations["resolveAml"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{id}/transfers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Allow one more transfer of a payment's coins to the wallet of its pool
         * @description After the two that are made without asking have failed. 409 while one is on its way or made by itself, and where a failed one has moved something.
         */
        post: operations["allowTransfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{id}/inquiries/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a gateway name hashes again for a payment
         * @description For a payment whose inquiries answer `attempts_exhausted`: its attempts count from zero again.
         */
        post: operations["resetInquiries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List settlements, newest first */
        get: operations["listSettlements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settlements/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a settlement, its history and its transactions */
        get: operations["getSettlement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settlements/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a settlement that cannot be paid any more, or not yet
         * @description Any claimed status before bytes are signed (`PENDING_APPROVAL`, `REQUESTED`), and `PROCESSING` once final blocks say that nothing
         *     signed for it can ever take effect. Its claim goes back to the pool. 409 names what may still pay it.
         */
        post: operations["rejectSettlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deposits, such as those nobody could be credited for
         * @description With `state=unexplained` it lists something else instead, in the same shape: native coins that an address of ours holds and that no
         *     transfer explains, found by their balance where an endpoint does not show what contracts pass on. There is no transaction
         *     (`txHash` is null), `height` is the last block in which they may have come, and a wallet has no payment. A row leaves the list
         *     once a transfer explains it, such as after an inquiry through an endpoint with traces.
         */
        get: operations["listDeposits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deposits/{id}/allocate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Credit an unallocated deposit to a payment
         * @description For coins that were set aside: they arrived on a network that was not selected, after the grace period, or below the dust floor.
         *     They are credited to the gateway of the payment named, which need not own the address. A payment that is PENDING or EXPIRED
         *     resolves by it (`depositPath` is `manual_inquiry`), except by dust. The deposit is `seen` in the answer while its price is missing.
         */
        post: operations["allocateDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the monthly invoices, the last closed first
         * @description What monthly-billed gateways owe: closed at 00:00 UTC on the first of the month, each with its first hundred lines.
         */
        get: operations["listInvoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invoices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an invoice and a page of its lines, the earliest booked first */
        get: operations["getInvoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/expenses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what the platform bore, by gateway, month and asset, the latest month first
         * @description Fees of payments, and of free cashouts. MONTHLY is invoiced to the gateway when its month is over; PLATFORM is the expense of the platform itself.
         */
        get: operations["listExpenses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find whatever is known by an id, a reference, a hash, an address or an amount
         * @description Payments, settlements, deposits, payouts, gateways and addresses of ours, as the lists find them by `q`; an amount finds payments that asked for it (as their shop
         *     wrote it), deposits and settlements of it. Of each kind the newest, at most 20 of all.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks, newest first */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook again
         * @description Queues one more attempt of this webhook, whatever became of it: same id and body, signed now, not counted towards the six. It waits for earlier webhooks of its payment that are still pending; a request that comes while one is queued joins it. The operator log keeps the reason.
         */
        post: operations["resendWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the work that is due, retrying, scheduled or dead */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run all jobs of a kind again that failed, now
         * @description Dead ones, and those that wait for their next try; they count as if they had not failed before. Up to 500 at once, those first that have been due the longest: `more` says whether
         *     some are left. Of several dead jobs of the same work one is run, and none where another job does the same; one that runs is left alone.
         */
        post: operations["retryJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a job that failed again, now
         * @description A dead one, or one that waits for its next try; it counts as if it had not failed before. 409 while it runs, once it is done, where it is due already or has not failed, and where another job does the same.
         */
        post: operations["retryJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a job that nobody needs any more
         * @description Only `webhook.deliver` (its webhook reads `stopped`, those behind it go on, and it can still be sent again), `webhook.resend`, `settlement.mail` and `person.mail`. Money waits for every
         *     other kind: 409 says what to do instead. 409 also while it runs and once it is done.
         */
        post: operations["discardJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/consolidations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join small outputs of a network's pools now
         * @description Whatever fees are now and however few outputs there are: up to five transactions a pool, each of which brings as many outputs as one may to the wallet of that very pool. Outputs that are hardly worth what spending them costs are left alone, and the budget of the day and the fee ceiling hold as they do for what is joined by itself. The deployment bears the fees.
         */
        post: operations["consolidateOutputs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run the audit
         * @description Every check must find no rows; each finding is listed with its rows.
         */
        get: operations["runAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what operators did, newest first
         * @description Every change made through this API, with who made it as its `X-Operator` header said. Nothing is ever changed or removed here.
         */
        get: operations["listActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how far a change of keys has come
         * @description Which keys the answering process has, by ids that tell nothing about them, and how much is stored under each. The previous master key may be taken away once `settled` is true and every process has the current one.
         */
        get: operations["getKeyStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/secrets/reseal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring everything over to the current master key now
         * @description What the workers do every minute while there is a previous master key. It may be stopped and repeated at any moment.
         */
        post: operations["resealSecrets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what was proposed to be done by two people, newest first
         * @description Some acts take two people: one proposes, another one confirms within a day.
         */
        get: operations["listProposals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proposals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a proposal
         * @description All that is to be done, exactly as it will be.
         */
        get: operations["getProposal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proposals/{id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Do what somebody else proposed
         * @description With the token of another person than the one who proposed it (`SLUICE_OPERATOR_TOKENS`). What is stored is done, exactly once, in the transaction that marks it confirmed; when it cannot be done any more it stays open, and 409 says why.
         */
        post: operations["confirmProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/proposals/{id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a proposal void
         * @description By whoever proposed it, or by anybody else who does not want it.
         */
        post: operations["withdrawProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/outgoing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transactions of our addresses that the books do not know
         * @description After a restore: what was sent in the time that was lost. Each with what left us, and the cashouts it may have paid.
         */
        get: operations["listUnknownOutgoing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/outgoing/adopt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a transaction that the database lost as ours
         * @description Name the cashout (also one that is parked in the books), the refund or the transfer of withheld coins that it paid, or the gateway of a cashout whose row is lost too: what was paid is paid then, and never again. Name none where coins only moved between our own addresses; `close` where it only used up what a payout of ours holds; `lost` where nobody will answer for what left. Open payouts whose nonce or output it has used are ended, and planned anew. The transaction must be final.
         */
        post: operations["adoptOutgoing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a halted wallet send again
         * @description Once the books name every transaction of it; 409 says which they do not know yet. What is frozen stays so until it is lifted.
         */
        post: operations["clearWallet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deaths": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Propose to tell the signer that what it signed will never be mined
         * @description Where it does not find two providers who say so, and does not sign a second time because of it; the slot is in the reason it gives. Nothing is told before a second person confirms the proposal (`POST /proposals/{id}/confirm`), and a provider that saw it pay is believed all the same.
         */
        post: operations["declareDead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/header-fields": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Propose to believe headers that have a field which this release does not know
         * @description Where no endpoint of an EVM network can prove a header because of that field; their hash is believed as told then. Nothing is believed before a second person confirms the proposal (`POST /proposals/{id}/confirm`).
         */
        post: operations["acceptHeaderField"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/freezes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What keeps cashouts from being sent
         * @description Freezes of operators and of the audit, wallets that were stopped, and whether a restored database still awaits its comparison.
         */
        get: operations["listFreezes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/freeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop dispatching
         * @description Everything, unless `scope` names a network (`network:<name>`) or an asset (`asset:<id>`).
         */
        post: operations["freeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/unfreeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dispatch again
         * @description Lifts the freeze of one scope, `all` unless another is named: what was frozen by its own name stays frozen until it is named too.
         *     What the audit froze it freezes again while it still finds it;
         *     `force` accepts the coins that are missing as lost, so that only more of them freeze again.
         */
        post: operations["unfreeze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read every price, its age and how its sources are doing
         * @description One item for each ticker and currency that a price is needed for, also where there is none. A price that is not usable is too old (or a leftover from development): its asset is not offered, and what waits for it waits on.
         */
        get: operations["listPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/{symbol}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a static price
         * @description For a ticker, or `fiat:<CODE>`; `null` takes the price away. Only where prices are static.
         */
        put: operations["setPrice"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/screening": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where verdicts come from */
        get: operations["getScreening"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/screening/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set what screening says about an address
         * @description What the development source says about an address from now on; verdicts that were given stay. Refused where verdicts come from a provider.
         */
        put: operations["setScreening"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the service clock */
        get: operations["getClock"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clock/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move the service clock forward
         * @description Warps the local chains, restamps static prices, and runs what became due before it answers. Refused in production.
         */
        post: operations["advanceClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Failure: {
            /** @constant */
            success: false;
            error: {
                /** @description Stable slug. */
                code: string;
                /** @description For people. */
                message: string;
            };
        };
        /**
         * @description Decimal string with at most 18 decimal places.
         * @example 49.90
         */
        Money: string;
        /** @description Why; kept in the audit log. */
        Reason: string | null;
        ReasonInput: {
            reason?: components["schemas"]["Reason"];
        };
        RequiredReasonInput: {
            /** @description Why; kept in the audit log. */
            reason: string;
        };
        GatewayFields: {
            /**
             * @description Only VERIFIED gateways are served.
             * @default VERIFIED
             * @enum {string|null}
             */
            status: "PENDING" | "VERIFIED" | "SUSPENDED" | null;
            /**
             * @description Who pays the fees and when.
             * @default STANDARD
             * @enum {string|null}
             */
            billing: "STANDARD" | "MONTHLY" | "PLATFORM" | null;
            /** @description Assets it may offer; null means every active one. */
            assetIds?: string[] | null;
            /** @description Payments whose payer chooses the amount. */
            openAmount?: {
                /** @default false */
                enabled: boolean | null;
                /** @default 1 */
                minAmountUsd: string | null;
                assetIds?: string[] | null;
            } | null;
            /** @description Defaults of a payment. */
            settings?: {
                /**
                 * @default MERCHANT
                 * @enum {string|null}
                 */
                txFeePayer: "MERCHANT" | "CUSTOMER" | null;
                /**
                 * @default MERCHANT
                 * @enum {string|null}
                 */
                commissionFeePayer: "MERCHANT" | "CUSTOMER" | null;
                /** @default 0 */
                overAcceptableDiff: string | null;
                /** @default 0 */
                underAcceptableDiff: string | null;
                /**
                 * @default ABSOLUTE
                 * @enum {string|null}
                 */
                acceptableDiffKind: "ABSOLUTE" | "PERCENTAGE" | null;
                /** @default true */
                checkAmountDeviation: boolean | null;
                /**
                 * @description Commission in hundredths of a percent.
                 * @default 0
                 */
                commissionBps: number | null;
                /** @default 0 */
                commissionMinUsd: string | null;
                /**
                 * @description How long after its deadline a payment can still be resolved.
                 * @default 86400
                 */
                lateCaptureGraceSeconds: number | null;
                /** @description How long credited funds wait before they can be withdrawn; null means the default of the deployment. */
                maturitySeconds?: number | null;
                /** @default 5 */
                inquiryAttempts: number | null;
            } | null;
            /** @description What a payment gets whose request says nothing of it; null is what the contract says. */
            defaults?: {
                /** @default null */
                timeoutSeconds: number | null;
                /**
                 * Format: uri
                 * @default null
                 */
                callbackUrl: string | null;
            } | null;
            /**
             * @description Addresses and CIDR ranges that may use API-mode payments.
             * @example [
             *       "203.0.113.7",
             *       "2001:db8::/48"
             *     ]
             */
            apiAllowlist?: string[] | null;
            /**
             * @description What addresses on `apiAllowlist` and `cashout.allowlist` are for, by address; null takes a note away. The gateway reads them with `GET /allowlists`.
             * @example {
             *       "203.0.113.7": "Web shop"
             *     }
             */
            allowlistNotes?: {
                [key: string]: string | null;
            } | null;
            /** @description The cashout API, off by default. */
            cashout?: {
                /** @default false */
                enabled: boolean | null;
                /** @description Addresses and CIDR ranges that may call it. */
                allowlist?: string[] | null;
                /**
                 * @description Park a cashout above the balance instead of refusing it.
                 * @default false
                 */
                parkingEnabled: boolean | null;
                /** @default 20 */
                parkedCap: number | null;
                /** @description Above this value a cashout waits for approval; null means never. */
                approvalCapUsd?: string | null;
                /** @description Most US dollars its cashouts may move within 24 hours; above it they stay REQUESTED and wait. Null means no cap. */
                dailyCapUsd?: string | null;
                /** @default 0 */
                dispatchDelaySeconds: number | null;
            } | null;
            screening?: {
                /** @default false */
                enabled: boolean | null;
                /** @description Verdicts it may still buy, live. Given on PATCH it is set; absent or null leaves it alone. 0 on a new gateway. */
                credits?: number | null;
                /** @default 70 */
                threshold: number | null;
            } | null;
            contactEmail?: string | null;
            /**
             * @description Refuse a cashout signature used in the last 10 minutes.
             * @default false
             */
            strictSignatures: boolean | null;
            /** @description What payers see of the merchant on the hosted checkout. */
            branding?: {
                /** @description One line of text; the gateway's name when it is null. */
                displayName?: string | null;
                /** @description Fetched by the service, never by the payer's browser; an image of at most 24 KB at a public address. */
                logoUrl?: string | null;
                /** @description Where a payer finds help; the page adds the payment's id. */
                supportUrl?: string | null;
                /** @description BCP 47 tag used when neither the page's address nor the payment names a language the checkout has. */
                language?: string | null;
                /**
                 * @description What QR codes of tokens hold. SAFE is the address alone; URI adds token and amount, which some wallets misread.
                 * @default SAFE
                 * @enum {string|null}
                 */
                qrMode: "SAFE" | "URI" | null;
                /** @description Six hexadecimal digits behind a #. Where words in it could not be read, another shade is shown; null is the service's own. */
                accentColor?: string | null;
                /**
                 * @default AUTO
                 * @enum {string|null}
                 */
                theme: "AUTO" | "LIGHT" | "DARK" | null;
                /** @description SHA-256 of the logo that owners uploaded in the console, which comes before logoUrl; null takes it away. */
                logo?: string | null;
            } | null;
            reason?: components["schemas"]["Reason"];
        };
        /**
         * @example {
         *       "name": "Acme Books",
         *       "settings": {
         *         "underAcceptableDiff": "1",
         *         "acceptableDiffKind": "PERCENTAGE"
         *       },
         *       "cashout": {
         *         "enabled": true,
         *         "allowlist": [
         *           "203.0.113.7"
         *         ]
         *       }
         *     }
         */
        GatewayInput: {
            /** @description Name for operators. */
            name: string;
        } & components["schemas"]["GatewayFields"];
        GatewayPatch: {
            /** @description Name for operators. */
            name?: string;
        } & components["schemas"]["GatewayFields"];
        Gateway: {
            /** Format: uuid */
            id: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
        } & components["schemas"]["GatewayFields"];
        GatewayAnswer: {
            gateway: components["schemas"]["Gateway"];
        };
        GatewayWithKeys: {
            gateway: components["schemas"]["Gateway"];
            apiKeys: {
                keyId: string;
                /** @description What its gateway calls it. */
                name: string | null;
                /** @description How its text begins. */
                prefix: string;
                /** @description How its text ends; null for a key that was made before this was kept. */
                lastFour: string | null;
                permissions: string[];
                /** @description Addresses and ranges it may be used from; null allows every address. */
                allowlist: string[] | null;
                /** Format: date-time */
                createdAt: string;
                /** @description The key of this gateway that made it; null when an operator did. */
                createdBy: string | null;
                /**
                 * Format: date-time
                 * @description From then on it is answered like an unknown one.
                 */
                expiresAt: string | null;
                /**
                 * Format: date-time
                 * @description To the minute.
                 */
                lastUsedAt: string | null;
                /** @description Address of that use. */
                lastUsedFrom: string | null;
                /** Format: date-time */
                revokedAt: string | null;
            }[];
        };
        GatewayList: {
            items: components["schemas"]["Gateway"][];
            pagination: components["schemas"]["Pagination"];
        };
        CreatedGateway: {
            gateway: components["schemas"]["Gateway"];
            /** @example sluice_0123456789abcdef_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef */
            apiKey: string;
            cashoutSigningSecret: string;
            /** @description `whsec_` and base64. */
            webhookSecret: string;
        };
        ApiKeyInput: {
            permissions?: ("payment:create" | "payment:read" | "payment:inquire" | "settlement:read" | "settlement:create" | "settlement:approve" | "key:manage" | "settings:write" | "report:export")[] | null;
            /** @description One line by which people tell it from others. */
            name?: string | null;
            /**
             * Format: date-time
             * @description From then on it is answered like an unknown one; null, the default, is a key that works until it is revoked.
             */
            expiresAt?: string | null;
            /** @description Addresses and CIDR ranges it may be used from; null, the default, allows every address. */
            allowlist?: string[] | null;
            reason?: components["schemas"]["Reason"];
        };
        CreatedApiKey: {
            keyId: string;
            apiKey: string;
            permissions: string[];
            name: string | null;
            /** Format: date-time */
            expiresAt: string | null;
            allowlist: string[] | null;
        };
        RevokedApiKey: {
            keyId: string;
            /** @constant */
            revoked: true;
        };
        RotateInput: {
            /** @description How long the old secret still counts. */
            overlapSeconds?: number | null;
            reason?: components["schemas"]["Reason"];
        };
        RotatedSecret: {
            secret: string;
            overlapSeconds: number;
        };
        TotpEnrolment: {
            /** @description Base32. */
            secret: string;
            otpauthUrl: string;
        };
        ScreeningCreditsInput: {
            add: number;
            reason?: components["schemas"]["Reason"];
        };
        NetworkList: {
            items: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @enum {string} */
                family: "evm" | "tron" | "bitcoin";
                chainId: string;
                genesisHash?: string | null;
                nativeSymbol: string;
                /** Format: date-time */
                pausedAt: string | null;
                /** @description Last block applied. */
                tipHeight: number | null;
                finalHeight: number | null;
                /** @description Highest block the node knew of. */
                headHeight: number | null;
                /** Format: date-time */
                appliedAt?: string | null;
                /** Format: date-time */
                caughtUpAt?: string | null;
                publishedHeight?: number | null;
                /** @description Whether an indexer is at work on it. */
                indexed: boolean;
                epoch?: number;
                /** @description Its RPC endpoints in order of preference, as this process sees them; a host only, because the rest of a URL may be a key. */
                endpoints?: components["schemas"]["EndpointReport"][];
                /** @description What whoever runs it has to know of how it is configured and of what its nodes do not offer, in sentences, such as that it has one provider only. */
                warnings?: string[];
            }[];
        };
        ProcessList: {
            /** @description One per role: http, worker, signer, and the indexer of each network. */
            items: {
                /** @enum {string} */
                role: "http" | "worker" | "signer" | "console" | "indexer";
                /** @description Of an indexer. */
                network: string | null;
                /** @description Somebody does it: is connected and, of an indexer, holds the lease of its network. */
                alive: boolean;
                /** @description Empty too for a process of a release that does not say who it is. */
                processes: components["schemas"]["RunningProcess"][];
            }[];
            /** @description Indexers that hold no lease now. */
            standby: components["schemas"]["RunningProcess"][];
            /** @description Logins of api processes of a release that does not say which roles they have. */
            silent: string[];
        };
        RunningProcess: {
            /** @description Its login in Postgres. */
            login: string;
            /**
             * Format: date-time
             * @description When it started, by its own clock.
             */
            since: string;
        };
        BackupList: {
            items: {
                /**
                 * Format: date-time
                 * @description The moment it holds; what came later is not in it.
                 */
                takenAt: string;
                /** Format: date-time */
                completedAt: string;
                rows: number;
                /**
                 * Format: date-time
                 * @description When every row of it was last found as it was written.
                 */
                verifiedAt: string | null;
                /** @description Of the moment it holds, by the database's clock. */
                ageSeconds: number;
            }[];
        };
        WalletList: {
            items: {
                network: string;
                /** @enum {string} */
                role: "hot" | "funding" | "held";
                /** @description As wallets and explorers write it. */
                address: string;
                /** @description Why nothing may be sent from it. */
                haltedReason: string | null;
                /** @description Of the funding wallet alone, which gives gas to all others. */
                gas: {
                    /** @description For how many more transfers it brings gas at present fees, at most a million; null while nobody can tell. */
                    transfers: number | null;
                    /** @description An alert says so when there are fewer. */
                    enough: number;
                } | null;
                assets: {
                    /** Format: uuid */
                    assetId: string;
                    symbol: string;
                    /** @description What it can pay with; null while the node cannot tell. On Bitcoin all final outputs of its pool that nothing has taken. */
                    coins: string | null;
                    /** @description Limits of the hot wallet; null where nothing of the asset goes to cold storage. */
                    coldStorage: {
                        /** @description What is above it goes to cold storage. */
                        ceiling: string;
                        /** @description Below it a refill is due. */
                        floor: string;
                        /** @description What lies in cold storage by the books. */
                        coins: string;
                        /** @description Where a refill comes from. */
                        address: string;
                    } | null;
                }[];
            }[];
        };
        EndpointReport: {
            provider: string;
            /**
             * @description `lagging` is behind the others or on another branch, `failing` is asked only when nobody else is left, `quiet` asked to be left alone, `foreign` serves another chain and is never asked again.
             * @enum {string}
             */
            state: "untried" | "well" | "lagging" | "failing" | "quiet" | "foreign";
            /** @description The head it last told. */
            height: number | null;
            /** @description Smoothed time to an answer. */
            latencyMs: number | null;
            /** @description Questions in a row that it did not answer. */
            failures: number;
            /** @enum {string|null} */
            lastTrouble: "down" | "slow" | "busy" | "refused" | "wrong-chain" | "untrusted" | null;
            /** @description Why it is never asked again. */
            foreign: string | null;
        };
        Rescan: {
            /** Format: uuid */
            id: string;
            network: string;
            from: number;
            to: number;
            /**
             * @description Somebody asked for it, or these blocks were first read by the logs of two providers, which tell of tokens alone, and are being read completely.
             * @enum {string}
             */
            cause: "operator" | "logs";
            reason: string | null;
            /** @description The next block to read; everything below it is in the books. */
            next: number;
            /** @description Movements that were new. */
            found: number;
            /** @description What holds it up. */
            problem: string | null;
            /** Format: date-time */
            requestedAt: string;
            /** Format: date-time */
            finishedAt: string | null;
        };
        UnknownOutgoing: {
            network: string;
            txid: string;
            height: number;
            /** @description The address of ours that sent it. */
            sender: string;
            nonce: number | null;
            /** @description Its effect reached the books: as a loss, where coins left us. */
            booked: boolean;
            /** @description Only then can it be adopted. */
            final: boolean;
            succeeded: boolean | null;
            /** @description What left us. */
            transfers: {
                /** Format: uuid */
                assetId: string;
                symbol: string;
                recipient: string;
                amount: string;
            }[];
            /** @description Cashouts that are still to be paid exactly that. */
            mayHavePaid: {
                /** Format: uuid */
                settlementId: string;
                /** Format: uuid */
                gatewayId: string;
                status: string;
            }[];
        };
        AdoptInput: {
            /** @description Name of the network. */
            network: string;
            /** @description The transaction. */
            txid: string;
            /** @description Why; kept in the audit log. */
            reason: string;
            /**
             * Format: uuid
             * @description The cashout it paid.
             */
            settlementId?: string | null;
            /**
             * Format: uuid
             * @description The refund it paid.
             */
            refundId?: string | null;
            /**
             * Format: uuid
             * @description The transfer of withheld coins it paid.
             */
            withheldId?: string | null;
            /**
             * Format: uuid
             * @description The gateway whose cashout it paid where that cashout is lost too; it is written anew.
             */
            gatewayId?: string | null;
            /** @description With gatewayId: what the cashout took from its balance, fee included; what arrived when null. */
            amount?: string | null;
            /** @description With gatewayId: the Idempotency-Key the cashout was asked for with, so that its merchant's repeat is answered with it instead of paid again. */
            idempotencyKey?: string | null;
            /** @description It moved nothing and used a nonce or an output of an open payout up; what that was for is planned anew. */
            close?: boolean;
            /** @description Coins left us and nobody will answer for them. */
            lost?: boolean;
        };
        Adopted: {
            network: string;
            txid: string;
            /**
             * Format: uuid
             * @description The cashout that is settled by it.
             */
            settlementId: string | null;
            /** @description Payouts that cannot be mined any more beside it; what is still owed is planned anew. */
            endedPayouts: string[];
            /** @description Wallets that may send again. */
            revivedWallets: string[];
            /** @description Transactions of this network that are still unknown. */
            unknownLeft: number;
        };
        RescanInput: {
            /** @description First block. */
            from: number;
            /** @description Last block, inclusive. */
            to: number;
            reason?: components["schemas"]["Reason"];
        };
        ConsolidationInput: {
            /** @description Name of the network. */
            network: string;
            /**
             * @description Of one pool alone; of both unless given.
             * @enum {string|null}
             */
            pool?: "green" | "held" | null;
            reason?: components["schemas"]["Reason"];
        };
        PoolConsolidation: {
            /** @enum {string} */
            pool: "green" | "held";
            transactions: {
                /** Format: uuid */
                payoutId: string;
                /** @description How many it joins. */
                outputs: number;
                /** @description What they become, in coins. */
                amount: string;
                /** @description What it costs, in coins. */
                fee: string;
            }[];
            /** @description Why no more of them are joined; null when nothing is left to join. */
            problem: string | null;
        };
        AssetInput: {
            /** @description Name of the network. */
            network: string;
            /** @description Ticker; also the name its price is looked up by. */
            symbol: string;
            /** @description Address of the token contract. */
            contract: string;
            decimals: number;
            name?: string | null;
            /**
             * @description Token standard; by default the usual one of the network.
             * @enum {string|null}
             */
            type?: "ERC20" | "BEP20" | "TRC20" | null;
            /**
             * @description Network fee of a payment, in asset units.
             * @default 0
             */
            networkFee: string | null;
            /**
             * @description A smaller transfer resolves nothing.
             * @default 0
             */
            dustFloor: string | null;
            /** @description Smallest cashout in asset units; null means the equivalent of 1 USD. */
            minimumSettlement?: string | null;
            reason?: components["schemas"]["Reason"];
        };
        Asset: {
            /** Format: uuid */
            id: string;
            symbol: string;
            name: string;
            /** @enum {string} */
            type: "NATIVE" | "ERC20" | "TRC20" | "BEP20";
            contract: string | null;
            decimals: number;
            networkFee: components["schemas"]["Money"];
            dustFloor: components["schemas"]["Money"];
            minimumSettlement: string | null;
            active: boolean;
            /** Format: uuid */
            networkId: string;
            networkName: string;
            networkSymbol?: string;
            family?: string;
            networkPaused?: boolean;
            /** @description Its issuer does not let our wallets move it. */
            issuerStopped?: boolean;
            /** @description No node of its network shows the coins that contracts pass on, and the networks file does not accept that: it is not offered. */
            unwatchable?: boolean;
        };
        AssetAnswer: {
            asset: components["schemas"]["Asset"];
        };
        AssetList: {
            items: components["schemas"]["Asset"][];
        };
        Pagination: {
            /** @description How many there are; null where a list is gone through and not counted. */
            total: number | null;
            limit: number;
            /** @description 1 where a list is gone through. */
            page: number;
            hasMore: boolean;
            /** @description What `after` goes on with; null on the last page, and missing from lists that have no `after`. */
            nextCursor?: string | null;
        };
        List: {
            items: Record<string, never>[];
            pagination: components["schemas"]["Pagination"];
        };
        SearchAnswer: {
            items: {
                /** @enum {string} */
                kind: "payment" | "settlement" | "deposit" | "payout" | "gateway" | "address";
                /** Format: uuid */
                id: string;
                /**
                 * Format: uuid
                 * @description Null for what is nobody's.
                 */
                gatewayId: string | null;
                /** @description What tells it from others. */
                line: string;
                /**
                 * Format: date-time
                 * @description When it was made or seen.
                 */
                at: string | null;
            }[];
            /** @description Whether there were more. */
            more: boolean;
        };
        /** @description One piece of work that is not done. What it sends or signs is not shown. */
        Job: {
            /** Format: uuid */
            id: string;
            /** @description What it does: webhook.deliver, webhook.resend, deposit.screen, settlement.dispatch, settlement.mail, payout.broadcast or person.mail. */
            topic: string;
            /**
             * Format: uuid
             * @description What it works on: a webhook, a credit, a settlement, or a signed transaction of a payout.
             */
            refId: string;
            /** @enum {string} */
            state: "due" | "retrying" | "scheduled" | "dead";
            /**
             * Format: date-time
             * @description When it runs next; of a dead one, when it was given up.
             */
            dueAt: string;
            /** Format: date-time */
            createdAt: string;
            /** @description How often it was begun. */
            claims: number;
            /** @description How often in a row it did not end well. */
            failures: number;
            /** @description A worker has it in hand. */
            running: boolean;
            lastError: string | null;
            /** Format: uuid */
            gatewayId: string | null;
            /** Format: uuid */
            paymentId: string | null;
            /** Format: uuid */
            settlementId: string | null;
        };
        JobList: {
            items: components["schemas"]["Job"][];
            pagination: components["schemas"]["Pagination"];
        };
        ActionList: {
            items: {
                /** @description Order of the actions. */
                id: string;
                /** Format: date-time */
                at: string;
                /** @example gateway.change */
                action: string;
                /** @description Id or name of what it was done to. */
                target: string;
                reason: string | null;
                /** @description The change itself, without secrets. */
                details: Record<string, never>;
                /** @description Who it was, by the token of the call: a name of SLUICE_OPERATOR_TOKENS, or operator for the one that is shared. */
                person: string | null;
                /** @description Who it was, as the caller said. */
                actor: string | null;
                clientIp: string | null;
                /**
                 * @description What it was made with: a shared operator token, that of a person, or an API key of the gateway.
                 * @enum {string|null}
                 */
                token: "current" | "previous" | "named" | "api-key" | null;
                /** @description The call in the logs. */
                requestId: string | null;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        KeyIds: {
            /** @example 3f9c0a1b2c3d4e5f */
            current: string;
            next: string | null;
            previous: string | null;
        };
        UnderKeys: {
            current: number;
            next: number;
            previous: number;
            /** @description Under none of these keys, or nobody looked yet. */
            other: number;
        };
        KeyStatus: {
            masterKey: components["schemas"]["KeyIds"] & {
                secrets: components["schemas"]["UnderKeys"];
                orders: components["schemas"]["UnderKeys"];
            };
            apiKeyPepper: components["schemas"]["KeyIds"] & {
                apiKeys: components["schemas"]["UnderKeys"];
            };
            /** @description Keys that say what was accepted over HTTP, by their public halves. */
            intentKeys: {
                /** @example d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a */
                publicKey: string;
                /** @description This process says what it accepts with it. */
                current: boolean;
                /** @description This process believes it. */
                trusted: boolean;
                /** @description Cashouts, refunds, withheld coins and proposals that are not over and were accepted under it. */
                orders: number;
            }[];
            /** @description Whether messages under a previous stream key are believed. */
            streamKeyPrevious: boolean;
            /** @description Whether a previous operator token is accepted. */
            operatorTokenPrevious: boolean;
            /** @description Nothing stored needs a previous key. */
            settled: boolean;
        };
        ResealAnswer: components["schemas"]["KeyStatus"] & {
            resealed: {
                /** @description Secrets sealed anew. */
                secrets: number;
                /** @description Orders that may still be paid, authenticated anew. */
                orders: number;
            };
        };
        Prices: {
            /**
             * @description Where prices come from: set by hand, or asked from public sources.
             * @enum {unknown}
             */
            mode: "static" | "http";
            items: {
                /** @description Ticker, or `fiat:<CODE>`. */
                symbol: string;
                /** @description US dollars for one unit; null where nobody ever gave a price. */
                usd: string | null;
                /** @description `static`, or the sources whose median it is. */
                source: string | null;
                /** Format: date-time */
                at: string | null;
                ageSeconds: number | null;
                /** @description Whether offers and judgements use it. */
                usable: boolean;
            }[];
            /** @description The public sources that were asked so far. */
            sources: {
                name: string;
                /** @description In a row. */
                failures: number;
                /** Format: date-time */
                answeredAt: string | null;
                lastError: string | null;
                /** Format: date-time */
                failedAt: string | null;
            }[];
        };
        PaymentTimeline: {
            /** @description The payment with every figure its judgement used. */
            payment: Record<string, never>;
            /** @description Locked prices, totals and addresses. */
            offers: Record<string, never>[];
            deposits: Record<string, never>[];
            /** @description What the gateway was credited, in which pool, and what screening said of it. */
            credits: Record<string, never>[];
            /** @description What screening and operators made of the payment. */
            aml: {
                /** @description Its amlState from the first to the last, with the facts each decision saw. */
                events: Record<string, never>[];
                refunds: components["schemas"]["AmlRefund"][];
            };
            /** @description Coins that did not follow the payment into its pool: their last transfer has failed. */
            misplaced: components["schemas"]["MisplacedCoins"][];
            /** @description The sentence that gives the reason for the status; of a PENDING payment, what it waits for. */
            summary: string;
            /** @description What happened, in order: the explanation that the merchant gets from `GET /payments/{paymentId}/explain`. */
            steps: {
                step: string;
                /** @description Name of the rule that applied. */
                rule: string;
                /** Format: date-time */
                at: string;
                /** @description For people. */
                text: string;
                /** @description Every figure of the sentence. */
                figures: {
                    [key: string]: string;
                };
            }[];
        };
        SettlementTimeline: {
            settlement: Record<string, never>;
            charges: components["schemas"]["Charge"][];
            fee: components["schemas"]["SettlementFee"] | null;
            events: Record<string, never>[];
            /** @description The transactions that carry it out. */
            payouts: Record<string, never>[];
        };
        /** @description What the destination of a cashout made a transaction cost beyond what was locked, charged to its gateway. */
        Charge: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            gatewayId: string;
            /** Format: uuid */
            settlementId: string;
            /** Format: uuid */
            payoutId: string;
            /**
             * @description units: it took more gas or energy than was quoted. failed: it was mined, and moved nothing.
             * @enum {string}
             */
            cause: "units" | "failed";
            network: string;
            assetSymbol: string;
            amount: components["schemas"]["Money"];
            nativeAsset: string;
            nativeAmount: components["schemas"]["Money"];
            /** Format: date-time */
            at: string;
        };
        /** @description What a settled cashout locked for the network and what it really cost; null before it is settled. A figure that needs a price nobody knew is null. */
        SettlementFee: {
            /**
             * @description MERCHANT pays what was locked; PLATFORM accrues what it really cost.
             * @enum {string}
             */
            payer: "MERCHANT" | "PLATFORM";
            /** @description Symbol of the asset paid out. */
            lockedAsset: string;
            locked: components["schemas"]["Money"];
            /** @description Symbol of the coin the network charges fees in. */
            nativeAsset: string;
            lockedNative: string | null;
            actualNative: components["schemas"]["Money"];
            /** @description Locked less actual; below zero where the platform paid on top. */
            differenceNative: string | null;
            lockedUsd: string | null;
            actualUsd: string | null;
            differenceUsd: string | null;
            /** @description The latest prices known when it settled, with their age then. */
            prices: {
                symbol: string;
                usd: components["schemas"]["Money"];
                /** Format: date-time */
                takenAt: string;
                ageSeconds: number;
            }[];
        };
        InvoiceLine: {
            /**
             * @description payment: network fee and commission of a deposit. settlement: what a free cashout cost. reversal: fees given back.
             * @enum {string}
             */
            kind: "payment" | "settlement" | "reversal";
            /** Format: uuid */
            paymentId: string | null;
            /** Format: uuid */
            settlementId: string | null;
            network: string;
            assetSymbol: string;
            /** @description In that asset; below zero where it is taken back. */
            amount: string;
            priceUsd: components["schemas"]["Money"];
            /** Format: date-time */
            priceAt: string | null;
            usd: string;
            /** Format: date-time */
            bookedAt: string;
        };
        Invoice: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            gatewayId: string;
            gatewayName: string;
            /** @description Such as `2026-10`, in UTC. */
            month: string;
            /** @enum {string} */
            currencyCode: "USD";
            /** @description Exact sum of the lines. */
            totalUsd: string;
            /** @description The same in cents, rounded half-up once. */
            amountDue: string;
            lineCount: number;
            /** Format: date-time */
            closedAt: string;
            lines: components["schemas"]["InvoiceLine"][];
        };
        InvoiceList: {
            items: components["schemas"]["Invoice"][];
            pagination: components["schemas"]["Pagination"];
        };
        ExpenseList: {
            items: {
                /** Format: uuid */
                gatewayId: string;
                gatewayName: string;
                /** @description Such as `2026-10`, in UTC. */
                month: string;
                /** @enum {string} */
                billing: "MONTHLY" | "PLATFORM";
                network: string;
                assetSymbol: string;
                /** @description In that asset. */
                amount: string;
                usd: string;
                lineCount: number;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        InvoicePage: {
            invoice: components["schemas"]["Invoice"];
            /** @description What destinations of the month cost beyond what was locked: taken from the balance of the gateway, so that it is not due once more. The first thousand. */
            charges: components["schemas"]["Charge"][];
            pagination: components["schemas"]["Pagination"];
        };
        AmlInput: {
            /** @enum {string} */
            action: "RELEASE" | "REFUND" | "WITHHOLD";
            /** @description Where a refund goes, and only for a refund: an address that is valid, and not ours, on every chain the payment has coins on. */
            address?: string | null;
            reason: string;
        };
        AmlResolution: {
            /** Format: uuid */
            paymentId: string;
            /**
             * @description HELD while a refund is on its way.
             * @enum {string}
             */
            amlState: "HELD" | "RELEASED" | "REFUNDED" | "WITHHELD";
            /** @description Every refund ever ordered of the payment. */
            refunds: components["schemas"]["AmlRefund"][];
        };
        AmlRefund: {
            /** Format: uuid */
            id: string;
            assetSymbol: string;
            network: string;
            address: string;
            /** @description What the recipient gets. */
            amount: string;
            /** @enum {string} */
            status: "ordered" | "paid" | "failed";
            reason: string;
            /** Format: date-time */
            orderedAt: string;
            /** Format: date-time */
            endedAt: string | null;
            txHash: string | null;
            /** @description Why it cannot be paid; the payment is held again. */
            failure: string | null;
        };
        AllocateInput: {
            /** Format: uuid */
            paymentId: string;
            reason: string;
        };
        Allocated: {
            deposit: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                state: "seen" | "dropped" | "credited" | "dust" | "unallocated";
                /** Format: uuid */
                paymentId: string;
                assetSymbol: string;
                amount: components["schemas"]["Money"];
                txHash: string;
            };
            payment: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                gatewayId: string;
                /** @enum {string} */
                status: "PENDING" | "SUCCESS" | "ACCEPTABLE" | "MISMATCH" | "EXPIRED";
            };
        };
        AuditAnswer: {
            /** @description True when no check found anything. */
            clean: boolean;
            checks: {
                /** @description Short name. */
                check: string;
                /** @description What it promises. */
                title: string;
                rows: Record<string, never>[];
            }[];
        };
        FreezeInput: {
            /**
             * @default all
             * @example network:ethereum
             */
            scope: string | null;
            reason?: components["schemas"]["Reason"];
        };
        UnfreezeInput: {
            /**
             * @default all
             * @example network:ethereum
             */
            scope: string | null;
            /**
             * @description Accept what is missing as lost; needs a reason.
             * @default false
             */
            force: boolean | null;
            reason?: components["schemas"]["Reason"];
        };
        RetryJobsInput: {
            /**
             * @description Their kind.
             * @enum {string}
             */
            topic: "webhook.deliver" | "webhook.resend" | "deposit.screen" | "settlement.dispatch" | "settlement.mail" | "payout.broadcast" | "person.mail";
            /** @description Why; kept in the audit log. */
            reason: string;
        };
        MisplacedCoins: {
            /** Format: uuid */
            assetId: string;
            assetSymbol: string;
            network: string;
            /** @description What lies in the wallet of the other pool. */
            amount: string;
            /** @enum {string} */
            from: "green" | "held";
            /** @enum {string} */
            to: "green" | "held";
            /**
             * Format: uuid
             * @description The transfer that failed last.
             */
            failedPayoutId: string;
            /** @description Its number. */
            family: number;
            failure: string | null;
            /** @description Whether an operator has allowed one more after it. */
            allowed: boolean;
        };
        FurtherTransferInput: {
            assetId: string;
            /** @description Why; kept in the audit log. */
            reason: string;
            /**
             * Format: uuid
             * @description The transfer that you know has failed, from `misplaced` of the payment: 409 where another one has failed since.
             */
            failedPayoutId?: string | null;
        };
        FurtherTransfer: {
            /** Format: uuid */
            paymentId: string;
            /** Format: uuid */
            assetId: string;
            /** @description Number of the transfer that is made now. */
            family: number;
        };
        DeathInput: {
            network: string;
            /** @description What the bytes have in common, as the signer says it: nonce:<wallet>:<nonce>, output:<txid>:<vout> or txid:<txid>. */
            slot: string;
            reason: string;
        };
        HeaderFieldInput: {
            network: string;
            /** @description As nodes name it, and as the alert does. */
            field: string;
            reason: string;
        };
        ClearWalletInput: {
            network: string;
            /** @description hot, funding or held, or the address of a wallet. */
            wallet: string;
            /** @description Why; kept in the audit log. */
            reason: string;
        };
        ClearedWallet: {
            network: string;
            role: string;
            address: string;
            wasHaltedFor: string;
        };
        Proposal: {
            /** Format: uuid */
            id: string;
            /** @description What is to be done, such as `withheld.pay`. */
            act: string;
            /** @description Id or name of what it is to be done to. */
            target: string;
            /** @description Exactly what is to be done. */
            content: Record<string, never>;
            reason: string;
            /** @description The first person, by the token of the call. */
            proposedBy: string;
            /** @enum {string} */
            status: "open" | "confirmed" | "withdrawn" | "expired";
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description From then on nobody can confirm it.
             */
            expiresAt: string;
            /** @description Who confirmed or withdrew it, by the token of the call. */
            decidedBy: string | null;
            /** Format: date-time */
            decidedAt: string | null;
            /** @description Ids of what was made, once it was confirmed. */
            outcome: Record<string, never> | null;
        };
        ProposalList: {
            items: components["schemas"]["Proposal"][];
            pagination: components["schemas"]["Pagination"];
        };
        SignerReport: {
            /** @description open while it signs; otherwise missing, corrupt, foreign, other, shorter, forked, locked or unreadable. */
            state: string;
            /** @description The same in words; empty while it signs. */
            reason: string;
            /** @description Signatures of the last day that the journal holds and Postgres does not; one may be left by a crash. */
            unknown: number;
            /** Format: date-time */
            reportedAt: string;
        };
        SignerJournal: {
            /** @description Where it ended when signed bytes were last stored; null before it was begun. */
            known: {
                /** Format: uuid */
                journalId: string;
                signatures: number;
                hash: string;
            } | null;
            /** @description Null while no signer ever said anything. */
            report: components["schemas"]["SignerReport"] | null;
        };
        SignerJournalInput: {
            /** Format: uuid */
            journalId: string;
            /** @description How many it holds. */
            signatures: number;
            /** @description Hash of its chain. */
            hash: string;
            /** @description Why; kept in the audit log. */
            reason: string;
        };
        WithheldInput: {
            assetId: string;
            /** @description What arrives, such as "12.5". */
            amount: string;
            /** @description Where it goes; checked as every destination is. */
            address: string;
            /** @description Why; kept in the audit log. */
            reason: string;
        };
        WithheldTransfer: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            gatewayId: string;
            /** Format: uuid */
            assetId: string;
            assetSymbol: string;
            network: string;
            address: string;
            amount: string;
            /** @enum {string} */
            status: "ordered" | "paid" | "failed";
            reason: string;
            proposedBy: string;
            confirmedBy: string;
            /** Format: date-time */
            orderedAt: string;
            /** Format: date-time */
            endedAt: string | null;
            txid: string | null;
            failure: string | null;
        };
        WithheldShown: {
            /** Format: uuid */
            gatewayId: string;
            items: {
                /** Format: uuid */
                assetId: string;
                assetSymbol: string;
                network: string;
                /** @description All that is kept. */
                withheld: string;
                /** @description What of it came in final blocks. */
                final: string;
                /** @description What ordered transfers speak for. */
                onItsWay: string;
            }[];
            /** @description Newest first, 100 at most. */
            transfers: components["schemas"]["WithheldTransfer"][];
        };
        Freezes: {
            freezes: {
                scope: string;
                reason: string;
                /** Format: date-time */
                frozenAt: string;
            }[];
            /** @description Wallets that did something the books do not know of; nothing is sent from them. */
            haltedWallets: {
                network: string;
                role: string;
                address: string;
                reason: string;
                /** @description Transactions that the books have to know before it can be cleared, 20 at most. */
                unexplained: string[];
                /** @description Nothing is missing: POST /wallets/clear. */
                clearable: boolean;
            }[];
            /** @description Networks on which our addresses sent what nothing explains. */
            unknownTransactions: {
                network: string;
                transactions: number;
            }[];
            /** @description The database was restored, taken over or started again, and some chain is not compared with it yet. */
            awaitingComparison: boolean;
            /** @description The networks it is still compared with; nothing is sent on them. */
            awaitingNetworks: string[];
            /** @description What the signer says of its journal; nothing is signed while that is not open. Null while no signer ever said anything. */
            signerJournal: components["schemas"]["SignerReport"] | null;
        };
        Currency: {
            code: string;
            active: boolean;
        };
        CurrencyList: {
            items: components["schemas"]["Currency"][];
        };
        CurrencyInput: {
            active: boolean;
            reason?: string | null;
        };
        PriceInput: {
            /** @description US dollars for one unit; null takes the price away. */
            usd: string | null;
        };
        PriceAnswer: {
            symbol: string;
            usd: string | null;
            source: string;
            /** Format: date-time */
            at: string;
        };
        ScreeningInput: {
            score?: number;
            /** @constant */
            unavailable?: true;
        };
        Clock: {
            /** Format: date-time */
            now: string;
            offsetSeconds: number;
        };
        AdvanceInput: {
            /** @description How far. */
            seconds: number;
        };
    };
    responses: {
        /** @description The operator token is missing or wrong. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Not allowed in this deployment. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description No such row. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description It exists already, or its state does not allow this. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description A field is missing or wrong; the message names it. */
        Invalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body is not acceptable JSON. */
        MalformedJson: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body is larger than 65,536 bytes. */
        PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body is not uncompressed application/json. */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Too many requests from this address; repeat after Retry-After. */
        RateLimited: {
            headers: {
                "X-Request-Id"?: string;
                "X-Contract-Revision"?: "2.2.0";
                /** @description Whole seconds to wait. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Our fault. */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Momentarily unavailable; retry shortly. */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
    };
    parameters: {
        /** @description Id. */
        Id: string;
        /** @description Public half of the key. */
        KeyId: string;
        /** @description Which secret. */
        SecretKind: "webhook" | "cashout";
        /** @description Name of the network. */
        Network: string;
        /** @description Ticker, or `fiat:<CODE>` for a currency. */
        Symbol: string;
        /** @description Address on any network. */
        Address: string;
        /**
         * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
         *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
         *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
         *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
         *     a person or a request id. Proposals: their id or their target.
         */
        Q: string;
        /** @description Only what is known by this transaction. Not together with `q` or `address`. */
        TxHash: string;
        /** @description Only what is known by this address. Not together with `q` or `txHash`. */
        OfAddress: string;
        /** @description Only of this moment or later; of jobs, when they are due. */
        From: string;
        /** @description Only from before this moment. */
        To: string;
        /** @description Which come first. */
        Sort: "newest" | "oldest";
        /**
         * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
         *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
         *     that there are more behind it.
         */
        After: string;
        /** @description Page size; more than 100 is read as 100. */
        Limit: number;
        /** @description Page, counted from 1. */
        Page: number;
        /** @description Only of this gateway. */
        GatewayId: string;
        /** @description Only with this status. */
        PaymentStatus: "PENDING" | "SUCCESS" | "ACCEPTABLE" | "MISMATCH" | "EXPIRED";
        /** @description Only with this status. */
        SettlementStatus: "PENDING_APPROVAL" | "UNDERFUNDED" | "WAITING_AML_CREDIT" | "REQUESTED" | "PROCESSING" | "SETTLED" | "REJECTED";
        /** @description Only in this state. */
        DepositState: "seen" | "dropped" | "credited" | "dust" | "unallocated" | "unexplained";
        /** @description Only in this state. */
        WebhookState: "pending" | "delivered" | "exhausted" | "stopped";
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listGateways: {
        parameters: {
            query?: {
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["GatewayList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createGateway: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GatewayInput"];
            };
        };
        responses: {
            /** @description The gateway and its secrets, shown once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CreatedGateway"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGateway: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["GatewayWithKeys"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeGateway: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GatewayPatch"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["GatewayAnswer"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApiKeyInput"];
            };
        };
        responses: {
            /** @description The key, shown once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CreatedApiKey"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
                /** @description Public half of the key. */
                keyId: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RevokedApiKey"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
                /** @description Which secret. */
                kind: components["parameters"]["SecretKind"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RotatedSecret"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    enrolTotp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description The seed, shown once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TotpEnrolment"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    addScreeningCredits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScreeningCreditsInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            /** @description What it has left now. */
                            credits: number;
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWithheld: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WithheldShown"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    payWithheld: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WithheldInput"];
            };
        };
        responses: {
            /** @description Proposed; a second person has to confirm it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSignerJournal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SignerJournal"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resealSignerJournal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignerJournalInput"];
            };
        };
        responses: {
            /** @description Proposed; a second person has to confirm it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelWithheld: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequiredReasonInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WithheldTransfer"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listNetworks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWallets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WalletList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listProcesses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ProcessList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listBackups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BackupList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rescanNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the network. */
                network: components["parameters"]["Network"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RescanInput"];
            };
        };
        responses: {
            /** @description Asked; the indexer does it next. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            rescan: components["schemas"]["Rescan"];
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRescans: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the network. */
                network: components["parameters"]["Network"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["Rescan"][];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pauseNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the network. */
                network: components["parameters"]["Network"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resumeNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the network. */
                network: components["parameters"]["Network"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCurrencies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CurrencyList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setCurrency: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Any case. */
                code: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CurrencyInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Currency"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAssets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AssetList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    addAsset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetInput"];
            };
        };
        responses: {
            /** @description The asset. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AssetAnswer"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPayments: {
        parameters: {
            query?: {
                /** @description Only with this status. */
                status?: components["parameters"]["PaymentStatus"];
                /** @description Only what screening flagged, in this state; a list with it is gone through. */
                amlState?: "HELD" | "RELEASED" | "REFUNDED" | "WITHHELD";
                /** @description Only of this gateway. */
                gatewayId?: components["parameters"]["GatewayId"];
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only what is known by this transaction. Not together with `q` or `address`. */
                txHash?: components["parameters"]["TxHash"];
                /** @description Only what is known by this address. Not together with `q` or `txHash`. */
                address?: components["parameters"]["OfAddress"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["List"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PaymentTimeline"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resolveAml: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AmlInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AmlResolution"];
                    };
                };
            };
            /** @description Proposed, where `SLUICE_TWO_PEOPLE_FOR` names it; a second person has to confirm it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    allowTransfer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FurtherTransferInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FurtherTransfer"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resetInquiries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Why; kept in the audit log. */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            /** Format: uuid */
                            id: string;
                            /** @constant */
                            attemptsUsed: 0;
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSettlements: {
        parameters: {
            query?: {
                /** @description Only with this status. */
                status?: components["parameters"]["SettlementStatus"];
                /** @description Only of this gateway. */
                gatewayId?: components["parameters"]["GatewayId"];
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only what is known by this transaction. Not together with `q` or `address`. */
                txHash?: components["parameters"]["TxHash"];
                /** @description Only what is known by this address. Not together with `q` or `txHash`. */
                address?: components["parameters"]["OfAddress"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["List"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSettlement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SettlementTimeline"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rejectSettlement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequiredReasonInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SettlementTimeline"];
                    };
                };
            };
            /** @description Proposed, where `SLUICE_TWO_PEOPLE_FOR` names it; a second person has to confirm it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeposits: {
        parameters: {
            query?: {
                /** @description Only in this state. */
                state?: components["parameters"]["DepositState"];
                /** @description Only of this gateway. */
                gatewayId?: components["parameters"]["GatewayId"];
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only what is known by this transaction. Not together with `q` or `address`. */
                txHash?: components["parameters"]["TxHash"];
                /** @description Only what is known by this address. Not together with `q` or `txHash`. */
                address?: components["parameters"]["OfAddress"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["List"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    allocateDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AllocateInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Allocated"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description The deposit is not set aside */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                /** @description Only of this gateway. */
                gatewayId?: components["parameters"]["GatewayId"];
                /** @description Only of this month, such as `2026-10`. */
                month?: string;
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["InvoiceList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getInvoice: {
        parameters: {
            query?: {
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
            };
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["InvoicePage"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listExpenses: {
        parameters: {
            query?: {
                /** @description Only of this gateway. */
                gatewayId?: components["parameters"]["GatewayId"];
                /** @description Only of this month, such as `2026-10`. */
                month?: string;
                billing?: "MONTHLY" | "PLATFORM";
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ExpenseList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    search: {
        parameters: {
            query: {
                /** @description Exactly that, but for the name of a gateway, which may be its beginning. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SearchAnswer"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Only in this state. */
                state?: components["parameters"]["WebhookState"];
                /** @description Only of this payment. */
                paymentId?: string;
                /** @description Only of this gateway. */
                gatewayId?: components["parameters"]["GatewayId"];
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only what is known by this transaction. Not together with `q` or `address`. */
                txHash?: components["parameters"]["TxHash"];
                /** @description Only what is known by this address. Not together with `q` or `txHash`. */
                address?: components["parameters"]["OfAddress"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["List"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description Queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Only in this state. */
                state?: "due" | "retrying" | "scheduled" | "dead";
                /** @description Only of this kind. */
                topic?: "webhook.deliver" | "webhook.resend" | "deposit.screen" | "settlement.dispatch" | "settlement.mail" | "payout.broadcast" | "person.mail";
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["JobList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    retryJobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryJobsInput"];
            };
        };
        responses: {
            /** @description Workers take them next. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            topic: string;
                            retried: number;
                            more: boolean;
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    retryJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description A worker takes it next. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            job: components["schemas"]["Job"];
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    discardJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequiredReasonInput"];
            };
        };
        responses: {
            /** @description It is never run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            /** Format: uuid */
                            id: string;
                            topic: string;
                            /** Format: uuid */
                            refId: string;
                            /** @constant */
                            discarded: true;
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    consolidateOutputs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsolidationInput"];
            };
        };
        responses: {
            /** @description Planned; the signer signs them next. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            pools: components["schemas"]["PoolConsolidation"][];
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    runAudit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AuditAnswer"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listActions: {
        parameters: {
            query?: {
                /** @description Only this action, such as `gateway.change`. */
                action?: string;
                /** @description Only what was done to this: the id or the name of it. */
                target?: string;
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getKeyStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["KeyStatus"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resealSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description What was done, and what is left. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ResealAnswer"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listProposals: {
        parameters: {
            query?: {
                /** @description Only those in one status. */
                status?: "open" | "confirmed" | "withdrawn" | "expired";
                /**
                 * @description Only what is known by exactly this. Payments: their id, the hash of a transaction that paid them, an address of theirs, or a value stored in `callbackParams` or
                 *     `webhookParams`. Settlements: their id, a transaction signed for them, their destination, or the Idempotency-Key they were asked for with. Deposits and webhooks:
                 *     their id, or anything their payment is known by (of the 200 newest such payments); deposits also by who sent them. Jobs: their id, or the id of the payment,
                 *     settlement, payout, webhook or credit they work on. Gateways: their id, the public half of a key, or how their name begins. Audit log: an action, a target,
                 *     a person or a request id. Proposals: their id or their target.
                 */
                q?: components["parameters"]["Q"];
                /** @description Only of this moment or later; of jobs, when they are due. */
                from?: components["parameters"]["From"];
                /** @description Only from before this moment. */
                to?: components["parameters"]["To"];
                /** @description Which come first. */
                sort?: components["parameters"]["Sort"];
                /** @description Page size; more than 100 is read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Page, counted from 1. */
                page?: components["parameters"]["Page"];
                /**
                 * @description The `nextCursor` of the page before; send the same filters with it. A list with `q`, `txHash`, `address`, `from`, `to`, `sort` or `after` (of jobs also `state`
                 *     or `topic`, of payments `amlState`) is gone through instead of counted: `total` is null, `page` is refused, and a page may have fewer rows than its limit while `hasMore` says
                 *     that there are more behind it.
                 */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ProposalList"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    confirmProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    withdrawProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id. */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReasonInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listUnknownOutgoing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["UnknownOutgoing"][];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    adoptOutgoing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdoptInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Adopted"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    clearWallet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClearWalletInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ClearedWallet"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    declareDead: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeathInput"];
            };
        };
        responses: {
            /** @description Proposed; a second person has to confirm it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    acceptHeaderField: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeaderFieldInput"];
            };
        };
        responses: {
            /** @description Proposed; a second person has to confirm it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Proposal"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFreezes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Freezes"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    freeze: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FreezeInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Freezes"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unfreeze: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UnfreezeInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Freezes"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPrices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Prices"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Ticker, or `fiat:<CODE>` for a currency. */
                symbol: components["parameters"]["Symbol"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PriceAnswer"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getScreening: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The provider, the sanctions list, and the gateways that screen. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            /** @description none, list, development, or the name of a provider. */
                            provider: string;
                            /** @description Null when no list is configured. */
                            sanctionsList: {
                                addresses: number;
                            } | null;
                            gateways: {
                                screening: number;
                                /** @description The ones of those that can buy no verdict. */
                                withoutCredit: number;
                            };
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setScreening: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Address on any network. */
                address: components["parameters"]["Address"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScreeningInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            /** @description Canonical. */
                            address: string;
                            score?: number;
                            /** @constant */
                            unavailable?: true;
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Clock"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    advanceClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdvanceInput"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Clock"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
