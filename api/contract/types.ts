// Generated from api/contract/openapi.yaml by npm run generate; do not edit.
export interface paths {
    "/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List payments
         * @description The gateway's payments, newest first, each with the `callbackParams` and `webhookParams` it was created with, and what was received.
         *     It is for display: fulfil an order by verify. Needs the permission `payment:read`.
         *
         *     With `status` and times alone, `total` is exact. With any other filter a page looks through 5,000 payments of that status and time and no more. It may then
         *     have fewer rows than `limit`, or none, while `hasMore` is true: go on with `nextCursor`. `total` is then what matches among the newest 5,000, and
         *     `atLeast` says that there may be more.
         */
        get: operations["listPayments"];
        put?: never;
        /**
         * Create a payment
         * @description Prices an amount in an ordinary currency and locks the price of every asset it can be paid in.
         *
         *     `HOSTED` (the default) needs `callbackUrl`; send the customer's browser to `paymentUrl`. `API` needs `webhookUrl`, refuses
         *     `callbackUrl`, needs a configured server allowlist (422 when it is empty) and a calling address on it (403 otherwise), and
         *     answers the whole payment too.
         *
         *     On a monthly-billed gateway both fee payers are always `PLATFORM`. A platform-billed gateway creates open-amount payments only
         *     and gets 403 here. Null in an optional field reads as if the field were absent. Needs the permission `payment:create`.
         *
         *     An asset is offered when it is enabled, has a price no older than 120 seconds and runs on a network that takes payments, and
         *     when the amount is neither below its dust floor nor beyond any number; 422 when none is left.
         */
        post: operations["createPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/open-amount": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an open-amount payment
         * @description A payment whose amount the payer chooses, on gateways provisioned for it (403 otherwise). Its US dollar value is set when
         *     the deposit confirms, at the market price of that moment, and must clear the gateway's minimum or the payment resolves
         *     `MISMATCH`; there is no second chance to top up. Needs the permission `payment:create`.
         *
         *     Every enabled asset with a current price is offered, unless the gateway's arrangement names fewer; 422 when none is left.
         *     Checkout modes, callback and webhook follow the rules of `POST /payments`. Null in an optional field reads as if the field
         *     were absent.
         */
        post: operations["createOpenAmountPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Price a payment without creating it
         * @description Validates and prices a request exactly as `POST /payments` would and creates nothing, so it takes the same body and answers the
         *     same errors. The offers' ids are only placeholders: nothing can be selected.
         *
         *     With `whatIf` it also says what a deposit of that asset and amount would do if it arrived now, in time and on its own: the
         *     status it would resolve the payment to, the rule that decides, and what the gateway would be credited. An asset the payment
         *     offers is judged by its own offer, another one at its market price by the first offer on its network. A deposit that would
         *     resolve nothing leaves the payment `PENDING`. Needs the permission `payment:create`.
         */
        post: operations["previewPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{paymentId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        /**
         * Read everything about a payment
         * @description What verify tells, the offers with their addresses, what was credited, the webhooks with their attempts, and what happened when. Reading it
         *     changes nothing: unlike verify it does not set `isVerified`, so that a back office may read what the shop has not yet. Fulfil an order by verify. Needs
         *     the permission `payment:read`.
         */
        get: operations["getPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{paymentId}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a payment's outcome
         * @description The authoritative read of how a payment ended, and the only carrier of money figures. Idempotent; answers `PENDING` until the
         *     payment resolves. Takes no body (one that is sent is ignored). Calling it on a resting payment sets `isVerified`. Safe to
         *     poll when a webhook was missed; verify every payment still unresolved after its `expiresAt`. Needs the permission `payment:read`.
         */
        post: operations["verifyPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{paymentId}/inquiry": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look a transaction up for a payment
         * @description For a customer who paid a payment that never resolved: checks a transaction hash on chain against every deposit address of the
         *     payment; on a match the payment enters normal crediting and the webhook fires. Attempts are limited and counted per payment.
         *     Verdicts are 200 with a `resultCode`; only transport and authentication failures are errors. A malformed hash is 422 and uses no
         *     attempt; a chain that cannot be asked, or whose node is behind, is 503 and uses none. Needs the permission `payment:inquire`.
         *
         *     All transfers of the transaction to the payment's addresses are credited, also on a network that was not selected and after the
         *     grace period; then `depositPath` is `manual_inquiry`. An EXPIRED payment resolves and sends its second webhook; one that has resolved
         *     keeps its status. `pending_confirmation`: found, not final yet; with a `receivedAmount` it is recorded and credited by itself once it
         *     is final, without one ask again later. `payment_not_eligible`: a sandbox payment, a payment nobody has selected an offer of, or a
         *     transfer below the dust floor of its asset. `claimed_by_other_payment`: it paid another payment of this gateway, or was given to
         *     another payment by the operator.
         */
        post: operations["inquirePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{paymentId}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        /**
         * Explain how a payment was judged
         * @description Why the payment has the status it has: how it was priced (rates, prices, their sources and ages), what was selected, what
         *     arrived and when it became final, which price applied, the sums of the judgement and the rule that decided, the fees taken,
         *     webhooks, verify, and what it waits for now. Each step carries every figure of its sentence, so that the sums can be done
         *     again by hand. Changes nothing. Needs the permission `payment:read`.
         */
        get: operations["explainPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{paymentId}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        /**
         * List a payment's webhook deliveries
         * @description Every webhook of the payment, oldest first, each with its delivery attempts, oldest first (of more than 100 the newest 100). A payment
         *     without a `webhookUrl`, or one that has not come to rest, has none. Needs the permission `payment:read`.
         */
        get: operations["listPaymentWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payments/{paymentId}/webhooks/resend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a payment's latest webhook again
         * @description Queues the newest webhook of the payment once more: the same `webhook-id` and body, signed at the moment it is sent with the secrets of
         *     that moment. It is sent whatever became of the webhook, and does not count towards the six attempts. A 2xx delivers a webhook that was
         *     not delivered before; any other answer leaves it as it was (410 stops one that is still `pending`).
         *
         *     While earlier webhooks of the payment are still `pending`, those are sent again too, in order, and the newest one after them. A request
         *     that comes while a resend is queued joins it, and one webhook is resent at most every 2 seconds, so that any number of requests cannot
         *     flood a receiver; `resendRequestedAt` shows one that is queued. 409 when the payment has no webhook. Needs the permission `payment:create`.
         */
        post: operations["resendPaymentWebhook"];
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
        /**
         * List the gateway's assets
         * @description Every asset the gateway can be paid in, with its id, decimals, minimums, confirmations and health. One that a payer sent unasked is on the balances instead. Needs the permission `payment:read`.
         */
        get: operations["listAssets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the gateway's API keys
         * @description Every key of the gateway, newest first, those that were revoked or have ended included; never their texts. `lastUsedAt` is to the
         *     minute. Needs the permission `key:manage`.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Make an API key
         * @description The key's text is in this answer and nowhere else. Whatever is left out is as narrow as the calling key, and nothing may be wider:
         *     a permission that the calling key lacks, a later end, or an address that it may not be used from are 403. A gateway has at most 100 keys
         *     that work or were made within a day (409). There is no Idempotency-Key, because a text is kept nowhere: after an answer that was lost, look for the
         *     name in the list and revoke that key. Needs the permission `key:manage`.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's `keyId`. */
                keyId: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description The key stops working at once; the calling key may revoke itself. One that was revoked before is answered as it is. Keys that it made go on
         *     working: `createdBy` names them. Needs the permission `key:manage`.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what happened on each day
         * @description What happened to the gateway's payments on each day, oldest first: how many were created, opened, had a coin chosen, had something arrive, and became `SUCCESS`, each counted on the
         *     day it first happened; and what the payments that came to rest on that day had received. Every day is there, also one without anything. Needs the permission `payment:read`.
         */
        get: operations["getSeries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/funnel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how far payments came
         * @description Of the gateway's payments that were created on these days, how many were opened, had a coin chosen, had something arrive, and became `SUCCESS`, until now. Payments that were created
         *     before the service noted openings count as not opened. Needs the permission `payment:read`.
         */
        get: operations["getFunnel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests
         * @description What the keys of the gateway asked for within the last 7 days, newest first: the newest 10,000 requests that failed and the newest 10,000 that did not. Bodies, paths and queries are not
         *     kept. Requests whose key was not recognised, or that were above the rate limit, are nobody's and not here. A request is shown about a second after its answer, and a server that
         *     crashes may lose that second; of more than 500 alike within a second only some are kept. A page looks through 5,000 requests and no more: it may have fewer rows than `limit`, or none,
         *     while `hasMore` is true. Go on with `nextCursor`. Needs the permission `key:manage`.
         */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/allowlists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the allowlists
         * @description Which addresses may make payments in `API` mode and speak about them, and which may call the cashout API, each with what it is for and since when it is listed. Keys have lists of their
         *     own (`GET /keys`). What was refused, by address, is in `GET /refused-requests`. The operator changes the lists. Needs the permission `settings:write`.
         */
        get: operations["getAllowlists"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List exports
         * @description Files that were asked for within the last 7 days, newest first, with how far each is. Signed like a cashout, since they tell balances. Needs the permission `report:export`.
         */
        get: operations["listExports"];
        put?: never;
        /**
         * Ask for an export
         * @description Asks for a file of what a list of the gateway shows: its payments, cashouts, postings or credits, newest first. It is made in the background, of rows that were made before `to`, and never
         *     after the moment it was asked for; each row is as it stood when it was written. A gateway has at most 2 exports being made, and 40 of the last 7 days while they come to less than 2 GiB (409). A file has at most
         *     1,000,000 rows and 256 MiB: the export of more fails, so ask for less time. Signed like a cashout. Needs the permission `report:export`, which
         *     lets read whatever can be exported.
         */
        post: operations["createExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/exports/{exportId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the export.
                 * @example 5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44
                 */
                exportId: string;
            };
            cookie?: never;
        };
        /**
         * Get an export
         * @description Tells how far an export is. Signed like a cashout. Needs the permission `report:export`.
         */
        get: operations["getExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/exports/{exportId}/file": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the export.
                 * @example 5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44
                 */
                exportId: string;
            };
            cookie?: never;
        };
        /**
         * Download an export
         * @description The file of an export that is `ready` (409 before). It never changes: a download that was cut off goes on with `Range` and `If-Range`. In CSV (RFC 4180, UTF-8) a text that a
         *     spreadsheet could take for a formula has an apostrophe before it; numbers are left as they are. Signed like a cashout. Needs the permission `report:export`.
         */
        get: operations["getExportFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/refused-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests that were refused
         * @description What the gateway's own rules refused within the last 7 days, by hour, newest first: requests with its key, or for its payments, from addresses
         *     that no list has, with a permission or a signature that was missing. Those that are alike are one row. An operation has at most 20 rows an hour; what is
         *     beyond them is one more row, whose `reason` and `address` are null. A request is shown about a second after it came. Needs the
         *     permission `settings:write`.
         */
        get: operations["listRefusedRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List postings
         * @description What was posted to the gateway's accounts, newest first. The entries of an account add up to its balance; money that moves from one of them to another is one
         *     entry on each, with the same `cause`. Signed like a cashout, since it tells balances. Needs the permission `settlement:read`.
         *
         *     Narrowed by `asset`, `network` or `kind`, a page looks through 5,000 entries of its time and no more: it may have fewer rows than `limit`, or none, while
         *     `hasMore` is true. Go on with `nextCursor`.
         */
        get: operations["listLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List credits
         * @description What payments credited to the gateway's balance, newest first, with what was taken of each and what no cashout has drawn of it yet. Needs the permission
         *     `payment:read`.
         *
         *     Narrowed by `asset`, `network` or `state`, a page looks through 5,000 credits of its time and no more: it may have fewer rows than `limit`, or none, while
         *     `hasMore` is true. Go on with `nextCursor`.
         */
        get: operations["listCredits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/statements/{month}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Year and month, UTC.
                 * @example 2026-11
                 */
                month: components["parameters"]["Month"];
            };
            cookie?: never;
        };
        /**
         * Get the statement of a month
         * @description What the gateway had of each asset at the beginning of a month (UTC), what changed it, and what it had at the end, from the postings of the ledger.
         *     `closing` is `opening` + `credits.gross` − `credits.networkFees` − `credits.commissions` + `credits.feesBorne` − `cashouts.paid` − `cashouts.fees` −
         *     `charges.amount` − `refunds.paid` + `refunds.commissionsReturned` − `withheldPaid.amount` + `adjustments`, to the last digit.
         *
         *     A month that is not over has `isOver: false`, and everything up to `asOf`. One that has not begun, and one before the gateway existed, are 404.
         *     Signed like a cashout, since it tells balances. Needs the permission `settlement:read`.
         */
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/address-book": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the address book
         * @description Destinations of the gateway, the last stored first: those that cashouts brought (`tag` is `API`) and those entered by hand (`BOOK`), each with who made it, when,
         *     and what was sent to it. Hidden ones are left out. Being in it allows nothing. Signed like a cashout. Needs the permission `settlement:read`.
         */
        get: operations["listAddresses"];
        put?: never;
        /**
         * Enter an address
         * @description Checked like the address of a cashout. One that is there already is 409, so that a lost answer is found in the list; a hidden one is shown again, as made now.
         *     A gateway has at most 1,000 entries made by hand, and 10,000 with hidden ones (409). Signed like a cashout. Needs the permission `settlement:create`.
         */
        post: operations["addAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/address-book/{addressId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The entry's `addressId`. */
                addressId: components["parameters"]["AddressId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Hide an address
         * @description The list leaves it out from now on; what was sent to it stays known. One that was hidden before is answered as it is. Signed like a cashout. Needs the
         *     permission `settlement:create`.
         */
        delete: operations["hideAddress"];
        options?: never;
        head?: never;
        /**
         * Rename an address
         * @description Changes the label in the address book; cashouts keep the one they show. `changedBy` says which key did it. Signed like a cashout. Needs the permission
         *     `settlement:create`.
         */
        patch: operations["renameAddress"];
        trace?: never;
    };
    "/screening": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the screening balance
         * @description How many screening credits are left, how many were spent on each of the last 30 days (UTC, this one included, or as many as the gateway is old), and how many days the
         *     rest lasts at that rate. A check that brought no verdict gives its credit back. Needs the permission `payment:read`.
         */
        get: operations["getScreening"];
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
        /**
         * List webhooks
         * @description The webhooks of all payments of the gateway, newest first, each with its last attempt; those of a payment tell every attempt. A page looks through 5,000 webhooks and no more: it
         *     may have fewer rows than `limit`, or none, while `hasMore` is true. Go on with `nextCursor`. Needs the permission `payment:read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test webhook
         * @description Sends one webhook of a payment that does not exist and answers what came back. It goes to `url`, or else to the `webhookUrl` of the newest payment that has one (of the
         *     newest 100), and is signed and sent as every webhook is: the same headers, the same rules for where it may go, 10 seconds for a status line. Its body says `"test": true`, its `paymentId` is made up and
         *     new each time, and verify knows nothing of it: never fulfil by it.
         *
         *     It is sent once, beside the webhooks of payments, is listed nowhere, and changes nothing. A receiver that fails is still 200 here: `result` says what happened. A gateway may send 10 a minute,
         *     one after the other. Needs the permission `payment:create`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/public/payments/{paymentId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        /**
         * Read a payment as its payer sees it
         * @description The public payment object, or with `statusOnly=true` just its status. Reading never changes anything. A payment in `API` mode
         *     needs a source address on the gateway's allowlist (403 names the address seen).
         */
        get: operations["getPublicPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/public/payments/{paymentId}/offers/{offerId}/select": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
                /** @description Id of one of the payment's offers. */
                offerId: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Choose an asset and get its deposit address
         * @description Assigns a deposit address on the offer's network. 200 says the address is watched and may be shown. 202 says it is not watched
         *     yet: call again after `retryAfterMs`; the call is idempotent and waits about 5 seconds itself. A late address also appears as
         *     the offer's `depositAddress` on the public read. Assets of one network share one address. For payments in `API` mode only: 409 on
         *     a hosted one, whose checkout page selects on its own host (`POST {checkout_url}/p/{paymentId}/select`). 503 while the network takes no new addresses.
         */
        post: operations["selectOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/public/payments/{paymentId}/expire": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Expire an overdue payment now
         * @description Moves a genuinely overdue, still unpaid payment to `EXPIRED`; on any other payment it changes nothing. Idempotent. It answers
         *     `PENDING` while a deposit seen before the deadline awaits confirmation, or while the chain has not been read up to the deadline.
         */
        post: operations["expirePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/public/payments/{paymentId}/sandbox/simulate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Play a scenario on a sandbox payment
         * @description Drives a payment created with `isSandbox: true` through the same rules, statuses and webhooks as a real one, without touching
         *     any balance. 409 on a payment that is not sandbox, that is resolved already, or whose status the scenario does not fit, and for
         *     an amount that is too small to count once 100 such arrived.
         *
         *     | scenario | what arrives | when |
         *     |---|---|---|
         *     | `success` | exactly the selected offer's `totalValue` | now |
         *     | `acceptable` | as little as the tolerance allows, or else as much | now |
         *     | `underpaid` | nine tenths of what is asked, less where that is tolerated | now |
         *     | `overpaid` | a tenth of what is asked beyond the tolerance, at least 0.01 USD | now |
         *     | `wrong_asset` | another asset, worth what is asked at its market price | now |
         *     | `seen_then_confirmed` | exactly `totalValue` | seen now, confirmed after 10 s or by calling it again |
         *     | `late_capture` | exactly `totalValue`, valued at the market price | after the deadline |
         *     | `expired` | nothing | |
         *
         *     The payment's own settings judge what arrives, so with `checkAmountDeviation: false` an `underpaid` payment is `SUCCESS`. Where
         *     no amount resolves to `ACCEPTABLE`, `acceptable` is 422. `amount` replaces the scenario's amount and is judged like any other;
         *     below the asset's dust floor it is recorded and resolves nothing.
         *
         *     `assetId` names the offer that is paid, else it is the one last selected, else the first; an offer that was not selected is
         *     selected first. For `wrong_asset` it names what arrives: an asset of a selected network that is not selected itself, by default
         *     another one of the same network; where there is none, as on a chain with one coin, the scenario is 422.
         *
         *     `expired` and `late_capture` bring `expiresAt` forward to now on a payment whose deadline has not passed; `late_capture` sends the
         *     `EXPIRED` webhook first, or plays on a payment that is `EXPIRED` and within its grace period. On a payment that is `EXPIRED`, or
         *     overdue, nothing else fits.
         *
         *     503 while what arrives must be valued at a market price and none is fresh.
         */
        post: operations["simulateSandboxPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ws/payments/{paymentId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        /**
         * Follow a payment over a WebSocket
         * @description The hosted checkout's live channel, also served at `/ws/payments/{paymentId}` of the checkout's own host. Send an HTTP upgrade
         *     (RFC 6455, version 13); a plain request is 426 `upgrade_required`. A payment in `API` mode is refused with 403, and so is a page
         *     of another site: an `Origin` must be the checkout's or this API's. A client that is no browser sends none. An address may have
         *     100 sockets open at once; beyond them it is 429.
         *
         *     All frames are JSON objects in text messages with a `type`; unknown types and fields are to be ignored.
         *
         *     | from the server | |
         *     |---|---|
         *     | `snapshot` | First, once. `serverTime`, `payment` (the public payment object), and what else a payer is shown: `pendingDeposit`, `graceEndsAt`, `mismatchSide`, `lateCapture`, `paid`, `networks`, `merchant`, `returnUrl`, `qrMode`. |
         *     | `update` | Whenever any of that changed, all of it again. One with an earlier `serverTime` than another is older. |
         *     | `ping` | Every 25 s, with `serverTime`. |
         *     | `error` | What became of a command, or of a message that is none: `command` (`select`, `simulate` or null), `error` with `code`, `message` and, where waiting helps, `retryAfterSeconds`. |
         *
         *     | from the client | |
         *     |---|---|
         *     | `{ "type": "select", "offerId": … }` | Selects as the public select does, and draws on its rate limit. |
         *     | `{ "type": "simulate", "scenario": …, "amount"?: …, "assetId"?: … }` | Plays a scenario on a sandbox payment. |
         *
         *     Each command that succeeds is answered with an `update`. A select whose address is not watched within 5 s is answered with one
         *     that has no `depositAddress` yet; it follows by itself. Losing the connection loses nothing: open another one.
         *
         *     Closed with 1001 when the server stops, 1003 after a binary message, 1008 after too many messages that are no commands, 1009
         *     after one above 4,096 bytes, and without a word when pings are not answered, frames are not read, or more than 50 messages come
         *     within 25 s.
         */
        get: operations["openPaymentSocket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List balances
         * @description One item per asset with a balance that is not zero, split into the ordinary pool and the AML-held pool (the fields named
         *     quarantined). An asset you never offered can appear: a payer sent another asset than selected, and it was credited as it
         *     arrived. Needs the permission `settlement:read`.
         */
        get: operations["listBalances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements/estimate-fee": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate a cashout's network fee
         * @description A dry run: it creates nothing and takes no Idempotency-Key. The quote is of this moment; a real create may lock a slightly
         *     different fee. `netAmount` is negative and `sufficient` false when the fee is not covered. On a monthly-billed gateway a token
         *     cashout is quoted at fee `0`. Needs the permission `settlement:read`.
         */
        post: operations["estimateSettlementFee"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cashouts
         * @description The gateway's cashouts, newest first. `limit=1` gives a cheap count through `pagination.total`. Needs the permission `settlement:read`.
         *
         *     With `status` alone `total` is exact. With any other filter a page looks through 5,000 cashouts and no more, and `total` and `hasMore` are to be read as in the list of
         *     payments.
         */
        get: operations["listSettlements"];
        put?: never;
        /**
         * Create a cashout
         * @description The HTTP status is the outcome. 200: the amount is claimed, and the cashout is `REQUESTED` (queued for dispatch after the
         *     gateway's delay) or `PENDING_APPROVAL` (over the approval cap, or its destination screen did not pass). 202: accepted and
         *     parked, nothing claimed: `UNDERFUNDED` or `WAITING_AML_CREDIT`. 409 and 422: refused.
         *
         *     `GREEN` draws from the ordinary pool, `AML_HELD` from the held pool, `SMART` screens the destination and picks. An amount above
         *     the pool's balance parks the cashout where the gateway has parking, and is 409 `insufficient_balance` otherwise. `SMART` and
         *     `AML_HELD` are parked as `WAITING_AML_CREDIT` when the screening credit is used up; `SMART` with no verdict for any other reason
         *     is 409 `screening_required`. A parked cashout activates by itself (checked about once a minute) with a fresh fee, and is
         *     rejected 7 days after creation. One that could never activate is refused instead: below the settlement minimum, or below its
         *     own network fee (422).
         *
         *     Repeat with the same Idempotency-Key after a timeout; the original response is replayed. Poll the get endpoint for the result.
         *     Needs the permission `settlement:create`.
         */
        post: operations["createSettlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements/{settlementId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        /**
         * Read a cashout
         * @description Poll this for the result. Treat `PENDING_APPROVAL`, `UNDERFUNDED` and `WAITING_AML_CREDIT` as accepted but not dispatched;
         *     `SETTLED` and `REJECTED` are final. Needs the permission `settlement:read`.
         */
        get: operations["getSettlement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements/{settlementId}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a held cashout
         * @description Releases a `PENDING_APPROVAL` cashout with a fresh authenticator code; the normal dispatch delay starts. Only a success is stored
         *     against the Idempotency-Key, so a failed attempt may be repeated with the same key. Five wrong codes lock the account for 15
         *     minutes (429). Needs the permission `settlement:approve`.
         */
        post: operations["approveSettlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements/{settlementId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry an underfunded cashout now
         * @description Checks an `UNDERFUNDED` cashout's balance at once instead of waiting for the next round, and claims it with a fresh fee:
         *     `REQUESTED`, or `PENDING_APPROVAL` over the approval cap or when its destination does not pass a new screen. 409 when it is
         *     still short, its network fee has risen above its amount, it is no longer parked, or it waits for screening credit; it stays as
         *     it was, and the same Idempotency-Key may be used again. No body. Needs the permission `settlement:create`.
         */
        post: operations["retrySettlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchant/settlements/{settlementId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw a parked cashout
         * @description Rejects an `UNDERFUNDED` or `WAITING_AML_CREDIT` cashout; nothing was claimed, so nothing is released. 409 when it is no longer
         *     parked, also when it just activated; only a success is stored against the Idempotency-Key. No body. Needs the permission `settlement:create`.
         */
        post: operations["cancelSettlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    payment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment came to rest
         * @description Sent to the payment's `webhookUrl` when it reaches `SUCCESS`, `ACCEPTABLE`, `MISMATCH` or `EXPIRED`; a payment that reopens from
         *     `EXPIRED` sends a second one. It carries no money figures.
         *
         *     Verify the signature over the raw body, deduplicate by `paymentId` **and** `status` together, answer 2xx quickly, then call verify
         *     and fulfil only from its response. Attempts follow at 0 s, +30 s, +2 min, +10 min, +30 min and +2 h after the previous one (six, about 2.7 hours);
         *     any 2xx is delivery, redirects are failures, 410 stops. `Retry-After` (seconds or a date) postpones the next attempt, by a day at most.
         *     The status line must arrive within 10 s; up to 64 KB of the answer are read.
         *
         *     Events of one payment are sent in order: a later one waits until the earlier one is delivered, stopped or given up after its six
         *     attempts (so at most about 2.7 hours, unless `Retry-After` asked for more), and is then sent at once. Every attempt is listed by
         *     `GET /payments/{paymentId}/webhooks`, and a webhook can be sent again. A resend may repeat an event: deduplicate.
         *
         *     Test vector: secret `whsec_test_secret`, body `{"paymentId":"7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44","status":"SUCCESS"}` gives
         *     `X-Webhook-Signature: d20d990e7bcee64d6e572b8e117808f216cb954095d958ccfab03426d6c410ea`.
         */
        post: operations["receivePaymentWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** Format: uuid */
        Id: string;
        /** @description Decimal string with up to 18 decimal places. */
        Decimal: string;
        /** @description Decimal string with up to 18 decimal places; negative when below. */
        SignedDecimal: string;
        /** @description Decimal string, or the empty string while there is no figure. */
        DecimalOrEmpty: string;
        /** @description Decimal string greater than 0 with up to 18 decimal places; no sign, exponent, spaces or leading zeros. */
        MoneyInput: string;
        /** @description Decimal string; 0 or below means no tolerance on that side. */
        ToleranceInput: string | null;
        /** @description Destination on the asset's chain. EVM with its EIP-55 checksum (all lower or all upper case is accepted too); TRON and Bitcoin with theirs. */
        AddressInput: string;
        /** Format: date-time */
        Timestamp: string;
        /**
         * @description Every `error.code` there is. Codes are stable; branch on them. `method_not_allowed` (405) answers a method that a path does not have.
         * @enum {string}
         */
        ErrorCode: "auth_api_key_invalid" | "signature_missing" | "signature_stale" | "signature_invalid" | "totp_required" | "forbidden" | "cashout_not_enabled" | "ip_not_allowed" | "totp_not_enrolled" | "not_found" | "method_not_allowed" | "malformed_json" | "conflict" | "idempotency_conflict" | "insufficient_balance" | "too_many_parked_cashouts" | "screening_required" | "payload_too_large" | "unsupported_media_type" | "validation_error" | "below_minimum_settlement" | "amount_below_network_fee" | "upgrade_required" | "rate_limit_exceeded" | "internal_error" | "fee_estimation_unavailable" | "service_unavailable";
        /**
         * @description `SUCCESS`: paid as asked. `ACCEPTABLE`: off by no more than the tolerance. `MISMATCH`: off by more; the funds are credited all the
         *     same. `EXPIRED`: unpaid at the deadline; a deposit within the grace period reopens it. All but `PENDING` send a webhook.
         * @enum {string}
         */
        PaymentStatus: "PENDING" | "SUCCESS" | "ACCEPTABLE" | "MISMATCH" | "EXPIRED";
        /** @enum {string} */
        SettlementStatus: "PENDING_APPROVAL" | "UNDERFUNDED" | "WAITING_AML_CREDIT" | "REQUESTED" | "PROCESSING" | "SETTLED" | "REJECTED";
        /**
         * @description Who bears a fee. `PLATFORM` only where the gateway's billing says so.
         * @enum {string}
         */
        FeePayer: "MERCHANT" | "CUSTOMER" | "PLATFORM";
        /** @enum {string} */
        AssetType: "NATIVE" | "ERC20" | "TRC20" | "BEP20";
        /**
         * @description How the deposit got here: the ordinary way, seen before the deadline but confirmed after it, captured after expiry, or matched from
         *     a submitted hash.
         * @enum {string}
         */
        DepositPath: "standard" | "late_confirmation" | "late_capture" | "manual_inquiry";
        /** @enum {string} */
        AmlState: "HELD" | "RELEASED" | "REFUNDED" | "WITHHELD";
        Pagination: {
            /** @description Matches in all. */
            total: number;
            /** @description Page size used. */
            limit: number;
            /** @description Page served; 1 when a cursor was used. */
            page: number;
            hasMore: boolean;
            /** @description Pass it as `after` for the next page; null on the last. */
            nextCursor: string | null;
            /**
             * @description Present where only a part of the list was counted: `total` match, or more.
             * @constant
             */
            atLeast?: true;
        };
        Following: {
            /** @description Page size used. */
            limit: number;
            hasMore: boolean;
            /** @description Pass it as `after` for the next page; null on the last. */
            nextCursor: string | null;
        };
        /**
         * @description What a key may do. A new key has the first six unless it is made with others; the others are granted by name only.
         * @enum {string}
         */
        Permission: "payment:create" | "payment:read" | "payment:inquire" | "settlement:read" | "settlement:create" | "settlement:approve" | "key:manage" | "settings:write" | "report:export";
        CreateKey: {
            /** @description One line by which people tell it from others. */
            name: string;
            /** @description Only such as the calling key has. */
            permissions: components["schemas"]["Permission"][];
            /**
             * Format: date-time
             * @description From then on the key is answered like an unknown one; null is one that works until it is revoked. Left out: the end of the calling key.
             */
            expiresAt?: string | null;
            /** @description Addresses and CIDR ranges it may be used from; null allows every address. Left out: those of the calling key. */
            allowlist?: string[] | null;
        };
        ApiKey: {
            /** @description The public half of its text. */
            keyId: string;
            /** @description As it was made; null when whoever made it gave none. */
            name: string | null;
            /** @description How its text begins. */
            prefix: string;
            /** @description How its text ends; null for a key that was made before this was kept. */
            lastFour: string | null;
            permissions: string[];
            /** @description Addresses and ranges it may be used from; null allows every address. */
            allowlist: string[] | null;
            createdAt: components["schemas"]["Timestamp"];
            /** @description The key that made it; null when an operator did. */
            createdBy: string | null;
            /**
             * Format: date-time
             * @description From then on it is answered like an unknown one.
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description Last accepted use, to the minute.
             */
            lastUsedAt: string | null;
            /** @description Address of that use. */
            lastUsedFrom: string | null;
            /**
             * Format: date-time
             * @description When it stopped working.
             */
            revokedAt: string | null;
        };
        SeriesDay: {
            /** Format: date */
            day: string;
            created: number;
            /** @description Its page, or the public payment, was read. */
            opened: number;
            /** @description A coin was chosen. */
            chosen: number;
            /** @description Something arrived. */
            seen: number;
            /** @description It became `SUCCESS`. */
            paid: number;
            /** @description What arrived for the payments that came to rest on this day, by asset. */
            received: {
                assetId: components["schemas"]["Id"];
                asset: string;
                network: string;
                /** @description How many payments received it. */
                payments: number;
                amount: components["schemas"]["Decimal"];
                amountUsd: components["schemas"]["Decimal"];
            }[];
        };
        Series: {
            /** Format: date */
            from: string;
            /** Format: date */
            to: string;
            sandbox: boolean;
            items: components["schemas"]["SeriesDay"][];
        };
        Funnel: {
            /** Format: date */
            from: string;
            /** Format: date */
            to: string;
            sandbox: boolean;
            created: number;
            /** @description Its page, or the public payment, was read. */
            opened: number;
            /** @description A coin was chosen. */
            chosen: number;
            /** @description Something arrived. */
            seen: number;
            /** @description It became `SUCCESS`. */
            paid: number;
        };
        Request: {
            /**
             * Format: date-time
             * @description When it came.
             */
            at: string;
            /**
             * Format: uuid
             * @description The `X-Request-Id` of its answer.
             */
            requestId: string;
            method: string;
            /** @description The `operationId` that was asked for. */
            operation: string;
            /** @description Status of the answer; 499 when the caller was gone before it. */
            status: number;
            /** @description The `code` of an error. */
            code: string | null;
            durationMs: number;
            /** @description The key it was made with. */
            keyId: string;
            /** @description How the text of that key begins. */
            keyPrefix: string;
            /** @description Where it came from. */
            address: string;
        };
        /**
         * @description Which list. `audit` is who did what, which owners ask for in the console: 403 for a key.
         * @enum {string}
         */
        ExportKind: "payments" | "settlements" | "ledger" | "credits" | "audit";
        CreateExport: {
            kind: components["schemas"]["ExportKind"];
            /**
             * @description `csv` with a line of names (as it is unless given), or `jsonl`: one JSON object a line.
             * @enum {string}
             */
            format?: "csv" | "jsonl";
            /**
             * Format: date-time
             * @description Only rows made at this time or later: payments and cashouts by creation, entries by posting, credits by crediting.
             */
            from?: string | null;
            /**
             * Format: date-time
             * @description Only rows made before this time; now unless given.
             */
            to?: string | null;
            /** @description Names of fields in the order they are to be in; all of the kind unless given. */
            columns?: string[] | null;
            /** @description What the list is narrowed to: `asset` and `network`, and of payments `status`, `sandbox` and `verified`, of cashouts `status`, of the ledger `kind`, of credits `state`. */
            filter?: {
                asset?: string | null;
                network?: string | null;
                status?: string | null;
                sandbox?: boolean | null;
                verified?: boolean | null;
                kind?: string | null;
                state?: string | null;
            } | null;
        };
        Export: {
            /**
             * Format: uuid
             * @description Id of the export.
             */
            exportId: string;
            kind: components["schemas"]["ExportKind"];
            /**
             * @description How its rows are written.
             * @enum {string}
             */
            format: "csv" | "jsonl";
            /** @description What each row has. */
            columns: string[];
            /** @description What the list was narrowed to. */
            filter: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Rows made at this time or later; null for all.
             */
            from: string | null;
            /**
             * Format: date-time
             * @description Rows made before this time. It is never later than `createdAt`.
             */
            to: string;
            /**
             * @description Its file can be downloaded once it is `ready`.
             * @enum {string}
             */
            state: "making" | "ready" | "failed";
            /**
             * @description Why it failed: there were more rows or bytes than a file may have, or something of ours.
             * @enum {string|null}
             */
            problem: "too_large" | "internal" | null;
            /** @description Rows written so far. */
            rows: number;
            /** @description Bytes of the file so far. */
            bytes: number;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            createdAt: string;
            /** @description Key that asked for it; null when a person did. */
            createdBy: string | null;
            /**
             * Format: date-time
             * @description When it became ready or failed.
             */
            endedAt: string | null;
            /**
             * Format: date-time
             * @description From then on it is gone, and its file with it.
             */
            deletedAt: string;
        };
        Allowlists: {
            /** @description Who may use payments in `API` mode. An empty list lets nobody. */
            api: components["schemas"]["AllowlistEntry"][];
            cashout: {
                /** @description Whether the cashout API is on for the gateway. */
                isEnabled: boolean;
                /** @description Who may call it. An empty list lets nobody. */
                items: components["schemas"]["AllowlistEntry"][];
            };
        };
        AllowlistEntry: {
            /** @description An address, or a range of them. */
            address: string;
            /** @description What it is for. */
            note: string | null;
            /**
             * Format: date-time
             * @description When it was added; null for one that was there before this was kept.
             */
            addedAt: string | null;
        };
        RefusedRequests: {
            /**
             * Format: date-time
             * @description Start of the hour they came in.
             */
            hour: string;
            /** @description The `operationId` that was asked for. */
            operation: string;
            /**
             * @description The address is not on the allowlist of the key, of `API` mode or of cashouts; the key lacks the permission; the signature is missing, stale or wrong.
             * @enum {string|null}
             */
            reason: "KEY_ALLOWLIST" | "API_ALLOWLIST" | "CASHOUT_ALLOWLIST" | "PERMISSION" | "SIGNATURE" | null;
            /** @description Where they came from. */
            address: string | null;
            /** @description How many there were. */
            count: number;
            /**
             * Format: date-time
             * @description When the last of them came, to about a second.
             */
            lastAt: string;
        };
        CreatePayment: {
            /** @description ISO-style code, any case. */
            currencyCode: string;
            amount: components["schemas"]["MoneyInput"];
            /**
             * @description `PAYLINK` for a payment made from a saved payment link.
             * @default DIRECT
             * @enum {string|null}
             */
            type: "DIRECT" | "PAYLINK" | null;
            /**
             * @description UUID of the saved link. Required when type is `PAYLINK`; ignored otherwise.
             * @default null
             */
            paylinkId: string | null;
            checkoutMode?: components["schemas"]["CheckoutModeInput"];
            callbackUrl?: components["schemas"]["CallbackUrlInput"];
            callbackParams?: components["schemas"]["CallbackParamsInput"];
            webhookUrl?: components["schemas"]["WebhookUrlInput"];
            webhookParams?: components["schemas"]["WebhookParamsInput"];
            timeoutSeconds?: components["schemas"]["TimeoutInput"];
            txFeePayer?: components["schemas"]["FeePayerInput"];
            commissionFeePayer?: components["schemas"]["FeePayerInput"];
            overAcceptableDiff?: components["schemas"]["ToleranceInput"];
            underAcceptableDiff?: components["schemas"]["ToleranceInput"];
            /**
             * @description US dollars, or percent of the expected US dollar amount; the gateway's setting when omitted.
             * @enum {string|null}
             */
            acceptableDiffKind?: "ABSOLUTE" | "PERCENTAGE" | null;
            /** @description When false any paid amount resolves to `SUCCESS`; the gateway's setting when omitted. */
            checkAmountDeviation?: boolean | null;
            /** @description Restricts the assets offered and locks your own prices; each must be enabled and named once. Omitted, the gateway's assets are offered at current prices. */
            assets?: {
                assetId: components["schemas"]["Id"];
                assetPriceUsd: components["schemas"]["MoneyInput"];
            }[] | null;
            language?: components["schemas"]["LanguageInput"];
            title?: components["schemas"]["TitleInput"];
            reference?: components["schemas"]["ReferenceInput"];
            /**
             * @description A payment without a real address, for trying things out.
             * @default false
             */
            isSandbox: boolean | null;
        };
        CreateOpenAmountPayment: {
            /**
             * @description Display currency, any case; the amount is filled in when the deposit confirms.
             * @default USD
             */
            currencyCode: string | null;
            checkoutMode?: components["schemas"]["CheckoutModeInput"];
            callbackUrl?: components["schemas"]["CallbackUrlInput"];
            callbackParams?: components["schemas"]["CallbackParamsInput"];
            webhookUrl?: components["schemas"]["WebhookUrlInput"];
            webhookParams?: components["schemas"]["WebhookParamsInput"];
            timeoutSeconds?: components["schemas"]["TimeoutInput"];
            language?: components["schemas"]["LanguageInput"];
            title?: components["schemas"]["TitleInput"];
            reference?: components["schemas"]["ReferenceInput"];
        };
        /**
         * @default HOSTED
         * @enum {string|null}
         */
        CheckoutModeInput: "HOSTED" | "API" | null;
        /**
         * Format: uri
         * @description Where the browser goes after the result. Required in `HOSTED`, unless the gateway's owners set one in the console; refused in `API`. localhost is allowed.
         */
        CallbackUrlInput: string | null;
        /**
         * @description Appended to the callback's query string, scalars as they are and nested values as compact JSON. Hosted only; ignored in `API`.
         *     422 when the callback URL would become longer than 8000 characters.
         */
        CallbackParamsInput: {
            [key: string]: unknown;
        } | null;
        /**
         * Format: uri
         * @description Where webhooks go. Optional in `HOSTED`; required in `API`. http or https without credentials, on port 80, 443 or one from 1024;
         *     it must lead to a public address each time it is used, unless the deployment allows others.
         */
        WebhookUrlInput: string | null;
        /** @description Stored with the payment for your bookkeeping; verify and the list of payments echo it, the payer never sees it. */
        WebhookParamsInput: {
            [key: string]: unknown;
        } | null;
        /**
         * @description Validity window in seconds. 0 or below means 3600. No upper bound. Absent or null is what the gateway's owners set in the console, or 3600.
         * @default 3600
         */
        TimeoutInput: number | null;
        /**
         * @description Display-language hint for the checkout.
         * @default null
         */
        LanguageInput: string | null;
        /**
         * @description What is paid for, in one line of plain text. The payer sees it on the hosted page and on the receipt.
         * @default null
         */
        TitleInput: string | null;
        /**
         * @description Your own number for it, in one line of plain text, such as an order number. The payer sees it beside the title.
         * @default null
         */
        ReferenceInput: string | null;
        /** @description Who bears the fee, `MERCHANT` or `CUSTOMER`; the gateway's setting when omitted. Anything else is 422, except on a monthly-billed gateway, which ignores it. */
        FeePayerInput: ("MERCHANT" | "CUSTOMER") | (string | null);
        CreatedPayment: {
            /**
             * Format: uuid
             * @description Keys the callback, the webhook, verify and select.
             */
            paymentUid: string;
            /**
             * Format: uri
             * @description Address of the hosted checkout.
             */
            paymentUrl: string;
            payment?: components["schemas"]["PublicPayment"];
        };
        CreatedOpenAmountPayment: {
            /**
             * Format: uuid
             * @description Keys the callback, the webhook, verify and select.
             */
            paymentUid: string;
            /**
             * Format: uri
             * @description Address of the hosted checkout.
             */
            paymentUrl: string;
        };
        PaymentPreview: {
            /** @enum {string} */
            checkoutMode: "HOSTED" | "API";
            currencyCode: string;
            /** @description Invoice amount exactly as it was sent. */
            amount: string;
            amountUsd: components["schemas"]["Decimal"];
            /** @description US dollars for one unit of the currency; absent for US dollars. */
            fiatRate?: string;
            timeoutSeconds: number;
            txFeePayer: components["schemas"]["FeePayer"];
            commissionFeePayer: components["schemas"]["FeePayer"];
            offers: components["schemas"]["Offer"][];
            whatIf?: components["schemas"]["DepositPreview"];
        };
        /** @description What a deposit would do. The figures are there when it would resolve the payment. */
        DepositPreview: {
            status: components["schemas"]["PaymentStatus"];
            /**
             * @description Why. The first eight decide; `dust` (below the asset's dust floor) and `network_not_offered` (no address of the payment
             *     would be on that network) resolve nothing, `waits_for_price` not yet.
             * @enum {string}
             */
            rule: "exact_total_value" | "deviation_not_checked" | "no_deviation" | "within_over_tolerance" | "within_under_tolerance" | "outside_tolerance" | "open_amount_minimum_met" | "open_amount_below_minimum" | "dust" | "network_not_offered" | "waits_for_price";
            assetSymbol: string;
            network: string;
            /**
             * Format: uuid
             * @description The asset of the offer that judges.
             */
            judgedByAssetId?: string;
            /** @description US dollars per coin: the offer's own price, or the market price of another asset. */
            priceUsd?: string;
            /** @description Value of the deposit, to the cent. */
            receivedUsd?: string;
            /** @description Value of the judging offer's totalValue, to the cent. */
            expectedUsd?: string;
            deviationUsd?: components["schemas"]["SignedDecimal"];
            /** @description Network fee charged, in the asset. */
            txFee?: string;
            /** @description Commission charged, in the asset. */
            commissionFee?: string;
            /** @description What the gateway is credited, in the asset. */
            credited?: string;
        };
        PaymentSummary: {
            paymentUid: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            /** @enum {string} */
            checkoutMode: "HOSTED" | "API";
            /** @enum {string} */
            type: "DIRECT" | "PAYLINK";
            /**
             * Format: uuid
             * @description The saved link it was made from; null for a DIRECT payment.
             */
            paylinkId: string | null;
            /** @description Invoice amount as sent; for open-amount payments 0 until a deposit confirms. */
            amount: string;
            amountUsd: components["schemas"]["Decimal"];
            currencyCode: string;
            createdAt: components["schemas"]["Timestamp"];
            expiresAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When it last came to rest; null while PENDING.
             */
            resolvedAt: string | null;
            /** @description Whether verify has been called on the resting payment. */
            isVerified: boolean;
            /** Format: date-time */
            verifiedAt: string | null;
            isSandbox: boolean;
            openAmount: boolean;
            callbackParams: components["schemas"]["CallbackParams"];
            webhookParams: components["schemas"]["WebhookParams"];
            /** @description What is paid for; absent when the create request named nothing. */
            title?: string;
            /** @description The merchant's own number for it; absent when the create request named none. */
            reference?: string;
            /** @description Ticker of the asset actually received. This and everything else about what was received is absent until a deposit decides. */
            receivedAssetSymbol?: string;
            /** @description Chain the deciding deposit arrived on. */
            network?: string;
            /** @description Transaction of the deciding deposit. */
            txHash?: string;
            /** @description In the received asset. */
            receivedAmount?: string;
            /** @description Its market value at confirmation in cents. */
            receivedAmountUsd?: string;
            depositPath?: components["schemas"]["DepositPath"];
            amlState?: components["schemas"]["AmlState"];
            /** @description Network fee of it, as on verify. */
            txFee?: string;
            /** @description Commission of it, as on verify. */
            commissionFee?: string;
            /** @description What it added to the balance. */
            net?: string;
        };
        /** @description Echo of the create request; null when it had none. */
        CallbackParams: {
            [key: string]: unknown;
        } | null;
        /** @description Echo of the create request, for your bookkeeping; null when it had none. */
        WebhookParams: {
            [key: string]: unknown;
        } | null;
        PublicPayment: {
            id: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            /** @enum {string} */
            checkoutMode: "HOSTED" | "API";
            /** @description Invoice amount exactly as it was sent; for open-amount payments 0 until a deposit confirms. */
            amount: string;
            amountUsd: components["schemas"]["Decimal"];
            currencyCode: string;
            /** @description Validity window. */
            timeoutSeconds: number;
            createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Authoritative deadline; drive countdowns from it.
             */
            expiresAt: string;
            offers: components["schemas"]["Offer"][];
            /** @description When true each offer's amount and totalValue are 0 placeholders. */
            openAmount: boolean;
            /** @description Open-amount minimum in US dollars; absent for a fixed amount. */
            minAmountUsd?: string;
            /** @description A simulated payment: nothing can be sent to it. */
            isSandbox: boolean;
            /** @description Display-language hint of the create request. */
            language: string | null;
            /** @description What is paid for; absent when the create request named nothing. */
            title?: string;
            /** @description The merchant's own number for it; absent when the create request named none. */
            reference?: string;
            txFeePayer: components["schemas"]["FeePayer"];
            commissionFeePayer: components["schemas"]["FeePayer"];
            /**
             * Format: uuid
             * @description The offer last selected; null before a select.
             */
            selectedOfferId: string | null;
            /**
             * Format: uuid
             * @description The asset actually paid; may differ from the selected one. Present once resolved on chain, as are the fields below.
             */
            paidAssetId?: string;
            paidAssetSymbol?: string;
            /** @description Present once the payment resolves on chain. */
            txHash?: string;
            /** @description Present once resolved. */
            receivedAmount?: string;
            /** @description Link to the transaction; present once resolved. That of a simulated transaction leads nowhere. */
            explorerTxUrl?: string;
        };
        Offer: {
            /**
             * Format: uuid
             * @description Used in select.
             */
            id: string;
            assetId: components["schemas"]["Id"];
            /** @description Ticker. */
            assetSymbol: string;
            /** @description Chain name. */
            assetNetwork: string;
            /** Format: uri */
            assetLogoUrl: string;
            /** Format: uri */
            networkLogoUrl: string;
            assetPriceUsd: components["schemas"]["Decimal"];
            /** @description Invoice principal in the asset. */
            amount: string;
            /** @description Network fee the customer pays on top; 0 when somebody else does. */
            txFee: string;
            /** @description Commission the customer pays on top; 0 when somebody else does. */
            commissionFee: string;
            /** @description Exactly what the customer must send. */
            totalValue: string;
            /** @description Present once select assigned one. */
            depositAddress?: string;
            assetDecimals: number;
            assetType: components["schemas"]["AssetType"];
            networkId: components["schemas"]["Id"];
            /** @description Token contract; null for a native coin. */
            contractAddress: string | null;
        };
        SelectOfferResult: {
            /**
             * @description ASSIGNED on 200, PENDING on 202.
             * @enum {string}
             */
            assignmentStatus: "ASSIGNED" | "PENDING";
            /** @description Present when ASSIGNED. */
            depositAddress?: string;
            /** @description On 202 only: call again after this many milliseconds. */
            retryAfterMs?: number;
            /** @description The offer's totalValue. */
            amount: string;
            paymentStatus: components["schemas"]["PaymentStatus"];
            expiresAt: components["schemas"]["Timestamp"];
            offer: components["schemas"]["Offer"];
        };
        PaymentStatusOnly: {
            paymentUid: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            /** @description Whether verify has been called on the resting payment. */
            isVerified: boolean;
            /** Format: date-time */
            verifiedAt: string | null;
        };
        VerifiedPayment: {
            paymentUid: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            currencyCode: string;
            /** @description Invoice amount as sent; for open-amount payments 0 until a deposit confirms. */
            amount: string;
            /** @description Its US dollar value, in cents; for open-amount payments 0 until a deposit confirms, then what was received (SUCCESS) or the minimum (MISMATCH). */
            amountUsd: string;
            /** @description What the judging offer asked for; absent before a select and for open-amount payments. */
            expectedAmount?: string;
            /** @description Quoted asset; absent before a select. */
            assetSymbol?: string;
            /**
             * Format: uuid
             * @description Asset actually received.
             */
            receivedAssetId?: string;
            /** @description Ticker of the asset actually received. This and everything else about what was received is absent until a deposit decides. */
            receivedAssetSymbol?: string;
            /** @description In the received asset. */
            receivedAmount?: string;
            /** @description Its market value at confirmation in cents. */
            receivedAmountUsd?: string;
            /** @description Signed difference from the expected amount in US dollars, in cents. Absent until a deposit decides, and on SUCCESS of an open-amount payment; on its MISMATCH the shortfall against the minimum. */
            deviationUsd?: string;
            depositPath?: components["schemas"]["DepositPath"];
            amlState?: components["schemas"]["AmlState"];
            /** @description Whether verify has been called on the resting payment; true from this answer on unless it is PENDING. */
            isVerified: boolean;
            /** Format: date-time */
            verifiedAt: string | null;
            /** @description Chain the deciding deposit arrived on. */
            network?: string;
            /** @description Transaction of the deciding deposit. */
            txHash?: string;
            explorerTxUrl?: string;
            /**
             * Format: date-time
             * @description When the deciding deposit was confirmed.
             */
            confirmedAt?: string;
            /** @description Network fee actually charged, in the received asset. One that the platform bears (`txFeePayer`) is not deducted from what is credited. */
            txFee?: string;
            /** @description Commission actually charged, in the received asset; not deducted when the platform bears it. */
            commissionFee?: string;
            txFeePayer?: components["schemas"]["FeePayer"];
            commissionFeePayer?: components["schemas"]["FeePayer"];
            callbackParams: components["schemas"]["CallbackParams"];
            webhookParams: components["schemas"]["WebhookParams"];
            /** @description What is paid for; absent when the create request named nothing. */
            title?: string;
            /** @description The merchant's own number for it; absent when the create request named none. */
            reference?: string;
            /** @description Every deposit of the payment, later ones included; of those that are too small to count (`dust`) at most 100. */
            deposits: components["schemas"]["PaymentDeposit"][];
        };
        PaymentDeposit: {
            /** @description Ticker. */
            asset: string;
            assetId: components["schemas"]["Id"];
            /** @description Chain name. */
            network: string;
            amount: components["schemas"]["Decimal"];
            txHash: string;
            /**
             * @description `seen`: in a block, not final. `dropped`: that block is gone. `credited`: on your balance. `dust`: too small to count. `unallocated`: outside the grace period or on another network, kept for the operator.
             * @enum {string}
             */
            state: "seen" | "dropped" | "credited" | "dust" | "unallocated";
            /** @description 0 once its block is gone. */
            confirmations: number;
            /** @description Null until the deposit is credited. */
            depositPath: components["schemas"]["DepositPath"] | null;
            /**
             * Format: date-time
             * @description Null until it is credited.
             */
            creditedAt: string | null;
        };
        InquiryResult: {
            /**
             * @description `tx_not_found`, `wrong_recipient`, `tx_failed`, `unsupported_asset` and `claimed_by_other_payment` use an attempt.
             * @enum {string}
             */
            resultCode: "matched" | "already_credited" | "pending_confirmation" | "tx_not_found" | "wrong_recipient" | "tx_failed" | "unsupported_asset" | "claimed_by_other_payment" | "payment_not_eligible" | "attempts_exhausted";
            attemptsUsed: number;
            attemptsRemaining: number;
            txHash: string;
            status: components["schemas"]["PaymentStatus"];
            network?: string;
            receivedAmount?: components["schemas"]["Decimal"];
            receivedAssetSymbol?: string;
            confirmations?: number;
        };
        WebhookAnswer: {
            /** @description What its first kilobyte says. Bytes that are not UTF-8, and characters that cannot be seen, are U+FFFD. */
            body: string;
            /** @description Its header `Content-Type`. */
            contentType: string | null;
            /** @description Its header `Retry-After`. */
            retryAfter: string | null;
        };
        TestWebhook: {
            /** @description Where to send it, by the rules of `webhookUrl`; else the `webhookUrl` of the newest payment that has one. */
            url?: string | null;
            /**
             * @description What it announces; `SUCCESS` unless given.
             * @enum {string|null}
             */
            status?: "SUCCESS" | "ACCEPTABLE" | "MISMATCH" | "EXPIRED" | null;
        };
        WebhookTest: {
            /**
             * Format: uuid
             * @description Sent as webhook-id.
             */
            webhookId: string;
            /** @description Where it went. */
            url: string;
            /** @description What was sent, byte for byte. */
            body: string;
            /**
             * @description 2xx is delivery. `refused`: no connection, one that broke off, or an answer that is not HTTP. `dns`: the name leads to no address that a webhook may be sent to.
             * @enum {string}
             */
            result: "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "dns" | "tls" | "refused";
            /** @description Null when no status came. */
            httpStatus: number | null;
            /** @description From the first look at the name to the end. */
            durationMs: number;
            /** @description What went wrong, for people; null when a status came. */
            problem: string | null;
            /** @description What your server answered; null when no status came, and for addresses of a private network that the deployment opened. */
            answer: components["schemas"]["WebhookAnswer"] | null;
        };
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description Sent as webhook-id.
             */
            id: string;
            status: components["schemas"]["PaymentStatus"];
            url: string;
            /** @description What is sent, byte for byte: what the signatures are made of. */
            body: string;
            /**
             * @description `exhausted`: six attempts failed. `stopped`: the receiver answered 410.
             * @enum {string}
             */
            state: "pending" | "delivered" | "exhausted" | "stopped";
            createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Null unless `pending`.
             */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When a 2xx first came back.
             */
            deliveredAt: string | null;
            /**
             * Format: date-time
             * @description When a resend was asked for that is queued and not yet sent; else null.
             */
            resendRequestedAt: string | null;
            attempts: {
                /** @description Counts from 1, attempts of the schedule and resends each by themselves; one that a crash cut off (`finishedAt` null) is made again under its number. */
                number: number;
                startedAt: components["schemas"]["Timestamp"];
                /** Format: date-time */
                finishedAt: string | null;
                /** @description Sent as webhook-timestamp, Unix seconds; null for attempts of which it was not kept. The signatures are not kept. */
                timestamp: number | null;
                /**
                 * @description `refused`: no connection, one that broke off, or an answer that is not HTTP. `blocked`: the URL leads to an address that is not public.
                 * @enum {string|null}
                 */
                result: "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "dns" | "tls" | "refused" | "blocked" | null;
                httpStatus: number | null;
                durationMs: number | null;
                /** @description A resend. */
                manual: boolean;
                /** @description How your server answered. Kept for 30 days, the newest 5,000 of a gateway; null when no status came, and for addresses of a private network that the deployment opened. */
                answer: components["schemas"]["WebhookAnswer"] | null;
            }[];
        };
        GatewayWebhook: {
            /**
             * Format: uuid
             * @description Sent as webhook-id.
             */
            id: string;
            paymentUid: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            url: string;
            /**
             * @description `exhausted`: six attempts failed. `stopped`: the receiver answered 410.
             * @enum {string}
             */
            state: "pending" | "delivered" | "exhausted" | "stopped";
            createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Null unless `pending`.
             */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When a 2xx first came back.
             */
            deliveredAt: string | null;
            /**
             * Format: date-time
             * @description When a resend was asked for that is queued and not yet sent; else null.
             */
            resendRequestedAt: string | null;
            /** @description Finished attempts of the schedule, resends not counted. */
            attempts: number;
            /**
             * Format: date-time
             * @description When the last attempt or resend started; null before the first.
             */
            lastAttemptAt: string | null;
            /**
             * @description How it ended; null while it is under way.
             * @enum {string|null}
             */
            lastResult: "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "dns" | "tls" | "refused" | "blocked" | null;
            lastHttpStatus: number | null;
        };
        PaymentRecord: {
            outcome: components["schemas"]["VerifiedPayment"];
            /** @enum {string} */
            checkoutMode: "HOSTED" | "API";
            /** @enum {string} */
            type: "DIRECT" | "PAYLINK";
            /** Format: uuid */
            paylinkId: string | null;
            openAmount: boolean;
            isSandbox: boolean;
            language: string | null;
            createdAt: components["schemas"]["Timestamp"];
            expiresAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When it last came to rest; null before.
             */
            resolvedAt: string | null;
            /** Format: uuid */
            selectedOfferId: string | null;
            offers: components["schemas"]["Offer"][];
            /** @description What was credited to the balance, the oldest first. */
            credits: components["schemas"]["PaymentCredit"][];
            /** @description Every webhook, the oldest first, as in the list of them. */
            webhooks: components["schemas"]["WebhookDelivery"][];
            /** @description What happened, the oldest first. */
            timeline: components["schemas"]["PaymentMoment"][];
        };
        PaymentCredit: {
            /** @description Ticker. */
            asset: string;
            /**
             * @description `held`: screening holds it.
             * @enum {string}
             */
            pool: "green" | "held";
            gross: components["schemas"]["Decimal"];
            networkFee: components["schemas"]["Decimal"];
            commission: components["schemas"]["Decimal"];
            net: components["schemas"]["Decimal"];
            /** @description What no cashout has drawn of it yet. */
            remaining: string;
            creditedAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When it may be cashed out at the earliest.
             */
            maturesAt: string;
            /**
             * Format: date-time
             * @description Since when it may be; null before.
             */
            maturedAt: string | null;
        };
        LedgerEntry: {
            at: components["schemas"]["Timestamp"];
            /**
             * @description Which posting it is, among them `credit` (a payment), `mature`, `reserve`, `release` and `settle` (a cashout), `charge` and `collect` (what a destination cost beyond its quote), `move`,
             *     `withhold`, `refund-order`, `refund` and `refund-cancel` (screening). Others may follow.
             */
            kind: string;
            /** @description Names what was posted, once and for all; with `account` and `asset` it names the entry. */
            cause: string;
            /**
             * @description `pending` and `heldPending` mature. `reserved` is a cashout's. `held` waits for screening. `owed` is below zero while something is owed.
             * @enum {string}
             */
            account: "pending" | "available" | "heldPending" | "held" | "reserved" | "withheld" | "refunding" | "owed";
            /** @description Ticker. */
            asset: string;
            /** @description Chain name. */
            network: string;
            /** @description What the account gained; negative when it lost. */
            amount: string;
            /**
             * Format: uuid
             * @description The payment it was posted for; null when it was for none.
             */
            paymentUid: string | null;
            /**
             * Format: uuid
             * @description The cashout it was posted for; null when it was for none.
             */
            settlementId: string | null;
        };
        GatewayScreening: {
            isEnabled: boolean;
            /** @description Scores of this or more are flagged. */
            threshold: number;
            /** @description Checks that may still be bought. */
            credits: number;
            /** @description Of the days told, to two decimals. */
            checksPerDay: components["schemas"]["Decimal"];
            /** @description Whole days that the credits last at that rate; null when none was spent. */
            daysLeft: number | null;
            /** @description Newest first. */
            days: {
                /** Format: date */
                day: string;
                checks: number;
            }[];
        };
        AddAddress: {
            /** @description One line of at most 100 characters. */
            label: string;
            /** @description Its name. */
            network: string;
            /** @description An address of that network, with its checksum where it has one. */
            address: string;
        };
        RenameAddress: {
            /** @description One line of at most 100 characters. */
            label: string;
        };
        BookAddress: {
            addressId: components["schemas"]["Id"];
            label: string;
            /** @description Chain name. */
            network: string;
            address: string;
            /**
             * @description `API`: a cashout brought it. `BOOK`: it was entered by hand.
             * @enum {string}
             */
            tag: "API" | "BOOK";
            /**
             * Format: date-time
             * @description When it was entered by hand, the last time, or else brought by a cashout.
             */
            createdAt: string;
            /** @description `keyId` of the key that entered it; null when a cashout brought it. */
            createdBy: string | null;
            /**
             * Format: date-time
             * @description When it was last renamed or hidden.
             */
            changedAt: string | null;
            /** @description `keyId` of the key that did it. */
            changedBy: string | null;
            /** Format: date-time */
            hiddenAt: string | null;
            /**
             * Format: date-time
             * @description When a cashout to it was first settled.
             */
            firstUsedAt: string | null;
            /** Format: date-time */
            lastUsedAt: string | null;
            /** @description What cashouts brought there in all, by asset. */
            sent: {
                asset: string;
                cashouts: number;
                amount: components["schemas"]["Decimal"];
            }[];
        };
        Statement: {
            /** @description Year and month, UTC. */
            month: string;
            /**
             * Format: date-time
             * @description When it begins.
             */
            from: string;
            /**
             * Format: date-time
             * @description When it ends; this moment belongs to the next.
             */
            to: string;
            /** @description False while it is under way: figures still change. */
            isOver: boolean;
            /**
             * Format: date-time
             * @description What the closing balance is of.
             */
            asOf: string;
            items: components["schemas"]["StatementItem"][];
        };
        /** @description One asset; all amounts, fees included, are in it. */
        StatementItem: {
            /** @description Ticker. */
            asset: string;
            /** @description Chain name. */
            network: string;
            /** @description All accounts of the gateway together at the beginning. */
            opening: components["schemas"]["SignedDecimal"];
            credits: {
                count: number;
                /** @description What arrived. */
                gross: components["schemas"]["SignedDecimal"];
                networkFees: components["schemas"]["SignedDecimal"];
                commissions: components["schemas"]["SignedDecimal"];
                /** @description The part of both fees that the platform bore. */
                feesBorne: components["schemas"]["SignedDecimal"];
            };
            cashouts: {
                /** @description Cashouts that were settled within the month. */
                count: number;
                /** @description What reached their addresses. */
                paid: components["schemas"]["SignedDecimal"];
                fees: components["schemas"]["SignedDecimal"];
            };
            /** @description What destinations cost beyond their quotes. */
            charges: {
                count: number;
                amount: components["schemas"]["SignedDecimal"];
            };
            refunds: {
                /** @description Refunds that were final within the month. */
                count: number;
                /** @description What went back to payers. */
                paid: components["schemas"]["SignedDecimal"];
                /** @description Commissions given back when refunds were ordered. */
                commissionsReturned: components["schemas"]["SignedDecimal"];
            };
            /** @description Withheld coins that left. */
            withheldPaid: {
                count: number;
                amount: components["schemas"]["SignedDecimal"];
            };
            /** @description Everything else, added. */
            adjustments: components["schemas"]["SignedDecimal"];
            /** @description All accounts together at the end, or as of `asOf`. */
            closing: components["schemas"]["SignedDecimal"];
            /** @description The same by account, as the ledger names them. */
            accounts: {
                pending: components["schemas"]["SignedDecimal"];
                available: components["schemas"]["SignedDecimal"];
                heldPending: components["schemas"]["SignedDecimal"];
                held: components["schemas"]["SignedDecimal"];
                reserved: components["schemas"]["SignedDecimal"];
                withheld: components["schemas"]["SignedDecimal"];
                refunding: components["schemas"]["SignedDecimal"];
                owed: components["schemas"]["SignedDecimal"];
            };
        };
        /**
         * @description `maturing`: nothing of it may be cashed out yet. `available`: what `remaining` says may be. `drawn`: cashouts took all of it. `held`: screening holds it.
         *     `withheld`, `refunding` and `refunded`: what `taken` says became of it.
         * @enum {string}
         */
        CreditState: "maturing" | "available" | "drawn" | "held" | "withheld" | "refunding" | "refunded";
        Credit: {
            creditId: components["schemas"]["Id"];
            paymentUid: components["schemas"]["Id"];
            /** @description Ticker. */
            asset: string;
            /** @description Chain name. */
            network: string;
            /**
             * @description `held`: screening holds it.
             * @enum {string}
             */
            pool: "green" | "held";
            state: components["schemas"]["CreditState"];
            /**
             * @description What took the rest of it out of its pool after screening; null while cashouts may draw it.
             * @enum {string|null}
             */
            taken: "withheld" | "refunding" | "refunded" | null;
            gross: components["schemas"]["Decimal"];
            networkFee: components["schemas"]["Decimal"];
            commission: components["schemas"]["Decimal"];
            net: components["schemas"]["Decimal"];
            /** @description What no cashout has drawn of it yet. */
            remaining: string;
            creditedAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When it may be cashed out at the earliest.
             */
            maturesAt: string;
            /**
             * Format: date-time
             * @description Since when it may be; null before.
             */
            maturedAt: string | null;
        };
        PaymentMoment: {
            at: components["schemas"]["Timestamp"];
            /**
             * @description `seen`: a deposit is in a block. `confirmed`: it counts. `lost`: its block is gone after all. `resolved` and `screened`: a status changed, `from` one `to` another. `webhook`: an attempt to deliver one.
             * @enum {string}
             */
            what: "created" | "selected" | "seen" | "confirmed" | "lost" | "resolved" | "credited" | "screened" | "webhook" | "verified" | "matured";
            /** @description Ticker. */
            asset?: string;
            network?: string;
            /** @description Coins that arrived, or after fees were credited. */
            amount?: string;
            txHash?: string;
            blockHeight?: number;
            from?: string;
            to?: string;
            /** Format: uuid */
            webhookId?: string;
            /** @description What became of the attempt, as in the list of webhooks; null while it is under way. */
            result?: string | null;
        };
        PaymentExplanation: {
            paymentUid: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            /** @description The sentence that gives the reason for the status; of a PENDING payment, what it waits for. */
            summary: string;
            steps: components["schemas"]["ExplanationStep"][];
        };
        ExplanationStep: {
            /**
             * @description What the step is about. `decision` carries the rule that decided: `exact_total_value`, `deviation_not_checked`,
             *     `no_deviation`, `within_over_tolerance`, `within_under_tolerance`, `outside_tolerance`, `open_amount_minimum_met` or
             *     `open_amount_below_minimum`. The last step is always `next`.
             * @enum {string}
             */
            step: "invoice" | "terms" | "offer" | "select" | "address" | "deposit" | "finality" | "price" | "value" | "tolerance" | "decision" | "record" | "fees" | "expiry" | "webhook" | "verify" | "next";
            /** @description Name of the rule that applied. New names may be added. */
            rule: string;
            /**
             * Format: date-time
             * @description When it happened; of `next` the time of the answer.
             */
            at: string;
            /** @description What happened and why, as a sentence for people. */
            text: string;
            /** @description Every figure of the sentence: money as exact decimals, times in RFC 3339, counts and flags as text. */
            figures: {
                [key: string]: string;
            };
        };
        Asset: {
            assetId: components["schemas"]["Id"];
            symbol: string;
            name: string;
            type: components["schemas"]["AssetType"];
            /** @description Chain name. */
            network: string;
            networkId: components["schemas"]["Id"];
            /** @description Ticker of the chain's native coin. */
            networkSymbol: string;
            decimals: number;
            /** @description Token contract; null for a native coin. */
            contractAddress: string | null;
            /** @description Network fee taken per payment, in the asset. */
            networkFee: string;
            /** @description Deposits below this are recorded, resolve no payment and are not credited. */
            minimumDeposit: string;
            /** @description Smallest cashout in the asset; null means the equivalent of 1 US dollar. */
            minimumSettlement: string | null;
            /** @description Blocks after which an ordinary payment resolves; null where the chain itself says what is final. */
            confirmations: number | null;
            /**
             * @description `PAUSED`: it is not offered, because an operator stopped the network or an issuer its token, or because no node shows every transfer of it. `DEGRADED`: something else is wrong, see `healthReasons`.
             * @enum {string}
             */
            health: "OK" | "DEGRADED" | "PAUSED";
            /** @description Why it is not OK; empty when it is. `network_paused`: an operator stopped it; it is not offered. `issuer_stopped`: the token’s issuer does not let this service move it; it is not offered. `transfers_unseen`: no node of its network shows the coins that contracts pass on; it is not offered. `price_stale`: no fresh price; it is not offered unless you name one. `indexer_behind`: the chain is not being followed closely; addresses and confirmations come late. */
            healthReasons: ("network_paused" | "issuer_stopped" | "transfers_unseen" | "price_stale" | "indexer_behind")[];
        };
        CreateSettlement: {
            assetId: components["schemas"]["Id"];
            amount: components["schemas"]["MoneyInput"];
            /**
             * @description Which pool pays. null means GREEN.
             * @default GREEN
             * @enum {string|null}
             */
            route: "GREEN" | "AML_HELD" | "SMART" | null;
            address: components["schemas"]["AddressInput"];
            /** @description Names the address-book entry made on first use; a random value starting `api-` when omitted. */
            label?: string | null;
            /** @description Your own one-level object, at most 4 KB; echoed on reads and shown to the approver, a `requester` key first. */
            metadata?: {
                [key: string]: string | number | boolean | null;
            } | null;
            /**
             * @deprecated
             * @description Removed in 2.0.0; send `route`.
             */
            isQuarantined?: unknown;
        };
        Settlement: {
            id: components["schemas"]["Id"];
            /** @description Destination. */
            address: string;
            /** @description Ticker. */
            assetName: string;
            /** @description Chain name. */
            network: string;
            /** @enum {string} */
            source: "API";
            status: components["schemas"]["SettlementStatus"];
            /**
             * @description SMART only while a SMART request waits for screening credit.
             * @enum {string}
             */
            route: "GREEN" | "AML_HELD" | "SMART";
            /**
             * @description Present when the service picked the pool.
             * @enum {string}
             */
            routedBy?: "SMART_ROUTE";
            /** @description The verdict SMART routed on; only together with routedBy. */
            destinationRiskScore?: number;
            /** @description Echo of the create metadata; omitted when none was sent. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Gross amount exactly as sent. */
            amount: string;
            /** @description Network fee reserved; empty while parked. */
            feeLocked: string;
            /** @description amount minus feeLocked; empty while parked. */
            netAmount: string;
            /** @description Amount actually sent; empty until SETTLED. */
            receivedAmount: string;
            /** @description What its destination made it cost beyond the quote, in the asset, charged to the balance; present only when there was any. */
            feeCharged?: string;
            /** @description How much more must reach the pool before an UNDERFUNDED cashout activates; computed on every read. */
            shortfall?: string;
            /** @description shortfall in US dollars. */
            shortfallUsd?: string;
            /**
             * Format: date-time
             * @description When a parked cashout is rejected; present only while parked.
             */
            expiresAt?: string;
            /** @description Empty until SETTLED. */
            txHash: string;
            /** @description Explorer link; empty until SETTLED. */
            blockchainUrl: string;
            createdAt?: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description From when it may be sent; absent before it is claimed and approved.
             */
            dispatchAt?: string;
            /**
             * Format: date-time
             * @description When it settled; absent before.
             */
            settledAt?: string;
            /**
             * Format: date-time
             * @description When it was rejected; absent unless it was.
             */
            rejectedAt?: string;
            /**
             * @description Together with rejectedAt: it was withdrawn, stayed parked for too long, or the operator rejected it.
             * @enum {string}
             */
            rejectReason?: "CANCELLED" | "PARKING_EXPIRED" | "OPERATOR";
            /** @description US dollar value of `amount` when it was created, in cents; absent when no price was at hand. */
            amountUsd?: string;
            /**
             * @description Why a person had to approve it; absent when nobody had to.
             * @enum {string}
             */
            holdReason?: "approval_cap" | "policy" | "destination_flagged" | "screening_unavailable";
        };
        FeeEstimate: {
            /** @description Destination echoed back. */
            address: string;
            assetName: string;
            network: string;
            amount: components["schemas"]["Decimal"];
            feeLocked: components["schemas"]["Decimal"];
            netAmount: components["schemas"]["SignedDecimal"];
            /** @description False when the fee is not covered; the figures are given all the same. */
            sufficient: boolean;
        };
        BalanceItem: {
            assetId: components["schemas"]["Id"];
            symbol: string;
            name: string;
            type: components["schemas"]["AssetType"];
            networkId: components["schemas"]["Id"];
            networkName: string;
            /** @description Ticker of the chain's native coin. */
            networkSymbol: string;
            /** @description Matured; the ceiling of a GREEN cashout. */
            totalAvailable: string;
            totalAvailableUsd: components["schemas"]["Decimal"];
            /** @description Matured payments backing it. */
            payments: number;
            /** @description Maturing; not yet withdrawable. */
            totalPendingAvailable: string;
            totalPendingUsd: components["schemas"]["Decimal"];
            pendingPayments: number;
            /**
             * Format: date-time
             * @description Soonest maturity; null when nothing is maturing.
             */
            nextMaturityAt?: string | null;
            /** @description Held and matured; the ceiling of an AML_HELD cashout. */
            totalQuarantinedAvailable: string;
            totalQuarantinedAvailableUsd: components["schemas"]["Decimal"];
            quarantinedPayments: number;
            /** @description Gross received into the held pool. */
            totalQuarantinedReceived: string;
            totalQuarantinedPendingAvailable: components["schemas"]["Decimal"];
            quarantinedPendingPayments: number;
            /** @description Gross ever received and matured. */
            totalReceived: string;
            totalTxFee: components["schemas"]["Decimal"];
            totalCommission: components["schemas"]["Decimal"];
            totalPendingReceived: components["schemas"]["Decimal"];
            totalPendingTxFee: components["schemas"]["Decimal"];
            totalPendingCommission: components["schemas"]["Decimal"];
        };
    };
    responses: {
        /** @description The body is not acceptable JSON. */
        MalformedJson: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "malformed_json",
                 *         "message": "The body is not valid JSON."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "malformed_json";
                        message: string;
                    };
                };
            };
        };
        /** @description No valid API key. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "auth_api_key_invalid",
                 *         "message": "The API key is missing, unknown, or its gateway is not verified."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "auth_api_key_invalid";
                        message: string;
                    };
                };
            };
        };
        /** @description No valid API key, or the request is not signed as required. */
        UnsignedRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "signature_stale",
                 *         "message": "X-Timestamp must be a whole number of seconds within 300 seconds of the server clock."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @enum {unknown} */
                        code: "auth_api_key_invalid" | "signature_missing" | "signature_stale" | "signature_invalid";
                        message: string;
                    };
                };
            };
        };
        /** @description Not permitted. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "forbidden",
                 *         "message": "The source address 203.0.113.9 is not on the allowlist."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "forbidden";
                        message: string;
                    };
                };
            };
        };
        /** @description Not permitted. */
        CashoutForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "ip_not_allowed",
                 *         "message": "The source address 203.0.113.9 is not on the cashout allowlist."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @enum {unknown} */
                        code: "forbidden" | "cashout_not_enabled" | "ip_not_allowed";
                        message: string;
                    };
                };
            };
        };
        /** @description Unknown, or another gateway's. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "not_found",
                 *         "message": "Not found."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "not_found";
                        message: string;
                    };
                };
            };
        };
        /** @description Not in a state that allows this. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "conflict",
                 *         "message": "The payment has expired."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "conflict";
                        message: string;
                    };
                };
            };
        };
        /** @description The Idempotency-Key was used with a different request, or the first request with it is still running. */
        IdempotencyConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "idempotency_conflict",
                 *         "message": "This Idempotency-Key was used with a different request."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @enum {unknown} */
                        code: "idempotency_conflict" | "conflict";
                        message: string;
                    };
                };
            };
        };
        /** @description Not in a state that allows this, or a clash of Idempotency-Keys. */
        StateOrIdempotencyConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "conflict",
                 *         "message": "The settlement is no longer awaiting approval."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @enum {unknown} */
                        code: "conflict" | "idempotency_conflict";
                        message: string;
                    };
                };
            };
        };
        /** @description The body is larger than 65,536 bytes. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "payload_too_large",
                 *         "message": "The body is larger than 65536 bytes."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "payload_too_large";
                        message: string;
                    };
                };
            };
        };
        /** @description The body is not uncompressed application/json. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "unsupported_media_type",
                 *         "message": "Send the body as application/json."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "unsupported_media_type";
                        message: string;
                    };
                };
            };
        };
        /** @description A field is missing or malformed; the message names it. */
        ValidationError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "validation_error",
                 *         "message": "amount: must be a decimal string such as \"10.50\", with up to 18 decimal places"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "validation_error";
                        message: string;
                    };
                };
            };
        };
        /** @description The path is a WebSocket's; the request was no handshake of one. */
        UpgradeRequired: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                /** @description What the connection is to be upgraded to. */
                Upgrade: "websocket";
                /** @description The version that is spoken. */
                "Sec-WebSocket-Version": "13";
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "upgrade_required",
                 *         "message": "Open this path as a WebSocket (RFC 6455, version 13)."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "upgrade_required";
                        message: string;
                    };
                };
            };
        };
        /** @description Too many requests from this address to this operation. */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "rate_limit_exceeded",
                 *         "message": "Too many requests; retry after the time in Retry-After."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "rate_limit_exceeded";
                        message: string;
                    };
                };
            };
        };
        /** @description Our fault; quote the X-Request-Id. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "internal_error",
                 *         "message": "Something went wrong on our side."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "internal_error";
                        message: string;
                    };
                };
            };
        };
        /** @description Momentarily unavailable; retry shortly. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "service_unavailable",
                 *         "message": "The service is momentarily unavailable; retry shortly."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "service_unavailable";
                        message: string;
                    };
                };
            };
        };
        /** @description The chain or a price is momentarily unreachable; retry shortly. */
        FeeUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": false,
                 *       "error": {
                 *         "code": "fee_estimation_unavailable",
                 *         "message": "The network fee cannot be quoted right now; retry shortly."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @enum {unknown} */
                        code: "fee_estimation_unavailable" | "service_unavailable";
                        message: string;
                    };
                };
            };
        };
        /** @description The cashout. */
        OneSettlement: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    success: true;
                    data: components["schemas"]["Settlement"];
                };
            };
        };
        /** @description The cashout as it is now. */
        ClaimedSettlement: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    success: true;
                    data: components["schemas"]["Settlement"];
                };
            };
        };
        /** @description The cashout, rejected; nothing was claimed for it. */
        CancelledSettlement: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Contract-Revision": components["headers"]["ContractRevision"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    success: true;
                    data: components["schemas"]["Settlement"];
                };
            };
        };
    };
    parameters: {
        /** @description The payment's `paymentUid`. */
        PaymentId: string;
        /** @description The key's `keyId`. */
        KeyId: string;
        /** @description The entry's `addressId`. */
        AddressId: string;
        /**
         * @description Year and month, UTC.
         * @example 2026-11
         */
        Month: string;
        /** @description The settlement's `id`. */
        SettlementId: string;
        /**
         * @description Current Unix time in whole seconds; at most 300 seconds off.
         * @example 1795255200
         */
        Timestamp: string;
        /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
        Signature: string;
        /**
         * @description Any 1–255 printable characters. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. Each operation has its own keys.
         * @example 6f1c1f8e-payout-2026-11-21
         */
        IdempotencyKey: string;
        /** @description Optional. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. */
        OptionalIdempotencyKey: string;
        /** @description Page size; values above 100 are read as 100. */
        Limit: number;
        /** @description 1-based page. Ignored when `after` is given. */
        Page: number;
        /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
        After: string;
    };
    requestBodies: never;
    headers: {
        /** @description Id of this request in our logs; quote it when asking for help. */
        RequestId: string;
        /**
         * @description Names the file. It never changes.
         * @example "5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44"
         */
        ETag: string;
        /** @description A part of the file can be asked for. */
        AcceptRanges: "bytes";
        /**
         * @description A name for the file.
         * @example attachment; filename="ledger-2026-12-01-5f0c8a1e.csv"
         */
        ContentDisposition: string;
        /**
         * @description Which bytes these are, and how many the file has.
         * @example bytes 0-1023/96320
         */
        ContentRange: string;
        /** @description Revision of this contract. */
        ContractRevision: "2.2.0";
        /** @description Present on a response replayed for a repeated Idempotency-Key. */
        IdempotencyReplayed: "true";
        /** @description Whole seconds to wait. */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPayments: {
        parameters: {
            query?: {
                /** @description Only payments in this status. */
                status?: components["schemas"]["PaymentStatus"];
                /**
                 * @description Only payments created at this time or later.
                 * @example 2026-11-21T00:00:00Z
                 */
                createdFrom?: string;
                /**
                 * @description Only payments created before this time.
                 * @example 2026-11-22T00:00:00Z
                 */
                createdTo?: string;
                /**
                 * @description Only payments known by exactly this: the payment's id, the hash of a transaction that paid it, a deposit address of it, or a value stored with it in
                 *     `callbackParams` or `webhookParams` (of the first 16 texts and whole numbers of each, none nested, of at most 255 characters).
                 * @example A-1001
                 */
                q?: string;
                /**
                 * @description Only payments that received this asset, by its ticker.
                 * @example USDT
                 */
                asset?: string;
                /**
                 * @description Only payments that were paid on this network, by its name.
                 * @example ethereum
                 */
                network?: string;
                /** @description Only sandbox payments, or none of them. */
                sandbox?: boolean;
                /** @description Only payments that verify was called on after they came to rest, or only the others. */
                verified?: boolean;
                /** @description Only payments whose deciding deposit got here this way. */
                path?: components["schemas"]["DepositPath"];
                /** @description Only payments that screening held, and what became of them. */
                amlState?: components["schemas"]["AmlState"];
                /**
                 * @description Only payments whose `amountUsd` is this or more.
                 * @example 10
                 */
                amountUsdFrom?: components["schemas"]["MoneyInput"];
                /**
                 * @description Only payments whose `amountUsd` is this or less.
                 * @example 99.99
                 */
                amountUsdTo?: components["schemas"]["MoneyInput"];
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description 1-based page. Ignored when `after` is given. */
                page?: components["parameters"]["Page"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of payments. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *             "status": "SUCCESS",
                     *             "checkoutMode": "HOSTED",
                     *             "type": "DIRECT",
                     *             "paylinkId": null,
                     *             "amount": "49.90",
                     *             "amountUsd": "49.90",
                     *             "currencyCode": "USD",
                     *             "createdAt": "2026-11-21T10:00:00.000Z",
                     *             "expiresAt": "2026-11-21T11:00:00.000Z",
                     *             "resolvedAt": "2026-11-21T10:15:02.000Z",
                     *             "isVerified": true,
                     *             "verifiedAt": "2026-11-21T10:15:30.000Z",
                     *             "isSandbox": false,
                     *             "openAmount": false,
                     *             "callbackParams": {
                     *               "order": "A-1001"
                     *             },
                     *             "webhookParams": null,
                     *             "receivedAssetSymbol": "USDT",
                     *             "network": "ethereum",
                     *             "txHash": "0x5e0f7b6f2f6a4c9d0f1f0e3b1b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
                     *             "receivedAmount": "49.9",
                     *             "receivedAmountUsd": "49.90",
                     *             "depositPath": "standard",
                     *             "txFee": "1.2",
                     *             "commissionFee": "0.499",
                     *             "net": "48.201"
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "total": 1,
                     *           "limit": 20,
                     *           "page": 1,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["PaymentSummary"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPayment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Optional. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePayment"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "paymentUrl": "https://pay.example/p/7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CreatedPayment"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["IdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createOpenAmountPayment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Optional. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. */
                "Idempotency-Key"?: components["parameters"]["OptionalIdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "callbackUrl": "https://shop.example/thanks",
                 *       "webhookUrl": "https://shop.example/hooks/sluice"
                 *     }
                 */
                "application/json": components["schemas"]["CreateOpenAmountPayment"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "paymentUrl": "https://pay.example/p/7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CreatedOpenAmountPayment"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["IdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    previewPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePayment"] & {
                    /** @description A deposit to judge. */
                    whatIf?: {
                        assetId: components["schemas"]["Id"];
                        amount: components["schemas"]["MoneyInput"];
                    } | null;
                };
            };
        };
        responses: {
            /** @description What the payment would be. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PaymentPreview"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
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
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PaymentRecord"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    verifyPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome so far. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "status": "ACCEPTABLE",
                     *         "currencyCode": "USD",
                     *         "amount": "100",
                     *         "amountUsd": "100.00",
                     *         "expectedAmount": "100",
                     *         "assetSymbol": "USDT",
                     *         "receivedAssetId": "0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10",
                     *         "receivedAssetSymbol": "USDT",
                     *         "receivedAmount": "99.5",
                     *         "receivedAmountUsd": "99.50",
                     *         "deviationUsd": "-0.50",
                     *         "depositPath": "standard",
                     *         "txFee": "0",
                     *         "commissionFee": "0.995",
                     *         "txFeePayer": "MERCHANT",
                     *         "commissionFeePayer": "MERCHANT",
                     *         "isVerified": true,
                     *         "verifiedAt": "2026-11-21T10:15:30.000Z",
                     *         "confirmedAt": "2026-11-21T10:15:02.000Z",
                     *         "network": "ethereum",
                     *         "txHash": "0x5e0f7b6f2f6a4c9d0f1f0e3b1b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
                     *         "explorerTxUrl": "https://explorer.example/tx/0x5e0f7b6f2f6a4c9d0f1f0e3b1b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
                     *         "callbackParams": {
                     *           "order": "A-1001"
                     *         },
                     *         "webhookParams": null,
                     *         "deposits": [
                     *           {
                     *             "asset": "USDT",
                     *             "assetId": "0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10",
                     *             "network": "ethereum",
                     *             "amount": "99.5",
                     *             "txHash": "0x5e0f7b6f2f6a4c9d0f1f0e3b1b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
                     *             "state": "credited",
                     *             "confirmations": 14,
                     *             "depositPath": "standard",
                     *             "creditedAt": "2026-11-21T10:15:02.000Z"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VerifiedPayment"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    inquirePayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "txHash": "0x5e0f7b6f2f6a4c9d0f1f0e3b1b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
                 *       "network": "ethereum"
                 *     }
                 */
                "application/json": {
                    /** @description Transaction hash as the customer's wallet shows it. */
                    txHash: string;
                    /** @description Network by name, as `GET /assets` gives it; every network of the payment when omitted. */
                    network?: string | null;
                };
            };
        };
        responses: {
            /** @description The verdict. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["InquiryResult"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    explainPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reason and the steps that led to it, in order. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "status": "ACCEPTABLE",
                     *         "summary": "PENDING → ACCEPTABLE: 0.50 USD too little is within the tolerated 1.00 USD.",
                     *         "steps": [
                     *           {
                     *             "step": "offer",
                     *             "rule": "offer_market_price",
                     *             "at": "2026-11-21T10:00:00.000Z",
                     *             "text": "100 USD ÷ 1 USD (static, 0 s old) = 100 USDT on ethereum, rounded up at 2 decimals.",
                     *             "figures": {
                     *               "asset": "USDT",
                     *               "network": "ethereum",
                     *               "decimals": "6",
                     *               "quoteDecimals": "2",
                     *               "amountUsd": "100",
                     *               "priceUsd": "1",
                     *               "amount": "100",
                     *               "txFee": "0",
                     *               "commissionFee": "0",
                     *               "totalValue": "100"
                     *             }
                     *           },
                     *           {
                     *             "step": "value",
                     *             "rule": "value_against_offer",
                     *             "at": "2026-11-21T10:15:02.000Z",
                     *             "text": "99.5 USDT × 1 USD = 99.50 USD received; 100 USDT × 1 USD = 100.00 USD expected; the difference is -0.50 USD. Each is rounded half-up to cents.",
                     *             "figures": {
                     *               "receivedAmount": "99.5",
                     *               "priceUsd": "1",
                     *               "receivedUsd": "99.50",
                     *               "expectedAmount": "100",
                     *               "expectedPriceUsd": "1",
                     *               "expectedUsd": "100.00",
                     *               "deviationUsd": "-0.50"
                     *             }
                     *           },
                     *           {
                     *             "step": "decision",
                     *             "rule": "within_under_tolerance",
                     *             "at": "2026-11-21T10:15:02.000Z",
                     *             "text": "PENDING → ACCEPTABLE: 0.50 USD too little is within the tolerated 1.00 USD.",
                     *             "figures": {
                     *               "from": "PENDING",
                     *               "to": "ACCEPTABLE",
                     *               "deviationUsd": "-0.50",
                     *               "underUsd": "1.00",
                     *               "overUsd": "0.00",
                     *               "depositPath": "standard"
                     *             }
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PaymentExplanation"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPaymentWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["WebhookDelivery"][];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendPaymentWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookDelivery"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
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
            /** @description The assets, by network and ticker. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "assetId": "0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10",
                     *             "symbol": "USDT",
                     *             "name": "Tether USD",
                     *             "type": "ERC20",
                     *             "network": "ethereum",
                     *             "networkId": "5b6a3a0e-8f5e-4b41-9b7e-2f0a0c9d8e11",
                     *             "networkSymbol": "ETH",
                     *             "decimals": 6,
                     *             "contractAddress": "0xdac17f958d2ee523a2206206994597c13d831ec7",
                     *             "networkFee": "1",
                     *             "minimumDeposit": "0.01",
                     *             "minimumSettlement": null,
                     *             "confirmations": 12,
                     *             "health": "OK",
                     *             "healthReasons": []
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["Asset"][];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "keyId": "0123456789abcdef",
                     *             "name": "Web shop",
                     *             "prefix": "sluice_0123456789abcdef",
                     *             "lastFour": "9f3c",
                     *             "permissions": [
                     *               "payment:create",
                     *               "payment:read"
                     *             ],
                     *             "allowlist": [
                     *               "203.0.113.7"
                     *             ],
                     *             "createdAt": "2026-11-21T10:00:00.000Z",
                     *             "createdBy": "fedcba9876543210",
                     *             "expiresAt": null,
                     *             "lastUsedAt": "2026-11-26T09:41:00.000Z",
                     *             "lastUsedFrom": "203.0.113.7",
                     *             "revokedAt": null
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["ApiKey"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Web shop",
                 *       "permissions": [
                 *         "payment:create",
                 *         "payment:read"
                 *       ],
                 *       "expiresAt": "2027-11-21T10:00:00Z",
                 *       "allowlist": [
                 *         "203.0.113.7",
                 *         "2001:db8:1::/48"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description The key, with its text. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "key": {
                     *           "keyId": "0123456789abcdef",
                     *           "name": "Web shop",
                     *           "prefix": "sluice_0123456789abcdef",
                     *           "lastFour": "9f3c",
                     *           "permissions": [
                     *             "payment:create",
                     *             "payment:read"
                     *           ],
                     *           "allowlist": [
                     *             "203.0.113.7"
                     *           ],
                     *           "createdAt": "2026-11-21T10:00:00.000Z",
                     *           "createdBy": "fedcba9876543210",
                     *           "expiresAt": null,
                     *           "lastUsedAt": "2026-11-26T09:41:00.000Z",
                     *           "lastUsedFrom": "203.0.113.7",
                     *           "revokedAt": null
                     *         },
                     *         "apiKey": "sluice_0123456789abcdef_…9f3c"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            key: components["schemas"]["ApiKey"];
                            /** @description What goes into `X-Api-Key`; shown this once. */
                            apiKey: string;
                        };
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's `keyId`. */
                keyId: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key, revoked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ApiKey"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSeries: {
        parameters: {
            query?: {
                /**
                 * @description First day (UTC); 13 days before `to` unless given.
                 * @example 2026-11-01
                 */
                from?: string;
                /**
                 * @description Last day (UTC), included; today unless given. At most 400 days are answered.
                 * @example 2026-11-21
                 */
                to?: string;
                /** @description Those of simulated payments instead. */
                sandbox?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "from": "2026-11-21",
                     *         "to": "2026-11-21",
                     *         "sandbox": false,
                     *         "items": [
                     *           {
                     *             "day": "2026-11-21",
                     *             "created": 14,
                     *             "opened": 12,
                     *             "chosen": 9,
                     *             "seen": 8,
                     *             "paid": 7,
                     *             "received": [
                     *               {
                     *                 "assetId": "3f0e8a52-4d0b-4f4e-8a1d-6f3c1d2b7a90",
                     *                 "asset": "USDT",
                     *                 "network": "tron",
                     *                 "payments": 8,
                     *                 "amount": "412.5",
                     *                 "amountUsd": "412.41"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Series"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFunnel: {
        parameters: {
            query?: {
                /**
                 * @description First day (UTC); 13 days before `to` unless given.
                 * @example 2026-11-01
                 */
                from?: string;
                /**
                 * @description Last day (UTC), included; today unless given. At most 400 days are answered.
                 * @example 2026-11-21
                 */
                to?: string;
                /** @description Those of simulated payments instead. */
                sandbox?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "from": "2026-11-08",
                     *         "to": "2026-11-21",
                     *         "sandbox": false,
                     *         "created": 140,
                     *         "opened": 121,
                     *         "chosen": 96,
                     *         "seen": 90,
                     *         "paid": 84
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Funnel"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description Only requests that were answered with a status of this class. */
                status?: "2xx" | "4xx" | "5xx";
                /** @description Only requests for this `operationId`. */
                operation?: string;
                /** @description Only requests with this key, by its `keyId`. */
                key?: string;
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of requests. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "at": "2026-11-26T09:41:07.120Z",
                     *             "requestId": "4b3a2c1d-0e9f-4a8b-9c7d-6e5f4a3b2c1d",
                     *             "method": "POST",
                     *             "operation": "createPayment",
                     *             "status": 422,
                     *             "code": "validation_error",
                     *             "durationMs": 9,
                     *             "keyId": "0123456789abcdef",
                     *             "keyPrefix": "sluice_0123456789abcdef",
                     *             "address": "203.0.113.7"
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["Request"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAllowlists: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lists, as they count now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "api": [
                     *           {
                     *             "address": "203.0.113.7",
                     *             "note": "Web shop",
                     *             "addedAt": "2026-11-21T10:00:00.000Z"
                     *           }
                     *         ],
                     *         "cashout": {
                     *           "isEnabled": true,
                     *           "items": [
                     *             {
                     *               "address": "2001:db8:1::/48",
                     *               "note": null,
                     *               "addedAt": null
                     *             }
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Allowlists"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listExports: {
        parameters: {
            query?: {
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of exports. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "exportId": "5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44",
                     *             "kind": "ledger",
                     *             "format": "csv",
                     *             "columns": [
                     *               "at",
                     *               "kind",
                     *               "asset",
                     *               "amount"
                     *             ],
                     *             "filter": {
                     *               "asset": "USDT"
                     *             },
                     *             "from": "2026-11-01T00:00:00.000Z",
                     *             "to": "2026-12-01T00:00:00.000Z",
                     *             "state": "ready",
                     *             "problem": null,
                     *             "rows": 1204,
                     *             "bytes": 96320,
                     *             "createdAt": "2026-12-01T08:00:00.000Z",
                     *             "createdBy": "0123456789abcdef",
                     *             "endedAt": "2026-12-01T08:00:02.000Z",
                     *             "deletedAt": "2026-12-08T08:00:00.000Z"
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["Export"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createExport: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
                /**
                 * @description Any 1–255 printable characters. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. Each operation has its own keys.
                 * @example 6f1c1f8e-payout-2026-11-21
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "ledger",
                 *       "format": "csv",
                 *       "from": "2026-11-01T00:00:00Z",
                 *       "to": "2026-12-01T00:00:00Z",
                 *       "columns": [
                 *         "at",
                 *         "kind",
                 *         "asset",
                 *         "amount"
                 *       ],
                 *       "filter": {
                 *         "asset": "USDT"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateExport"];
            };
        };
        responses: {
            /** @description The export, which is being made. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "exportId": "5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44",
                     *         "kind": "ledger",
                     *         "format": "csv",
                     *         "columns": [
                     *           "at",
                     *           "kind",
                     *           "asset",
                     *           "amount"
                     *         ],
                     *         "filter": {
                     *           "asset": "USDT"
                     *         },
                     *         "from": "2026-11-01T00:00:00.000Z",
                     *         "to": "2026-12-01T00:00:00.000Z",
                     *         "state": "making",
                     *         "problem": null,
                     *         "rows": 0,
                     *         "bytes": 0,
                     *         "createdAt": "2026-12-01T08:00:00.000Z",
                     *         "createdBy": "0123456789abcdef",
                     *         "endedAt": null,
                     *         "deletedAt": "2026-12-08T08:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Export"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            409: components["responses"]["StateOrIdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExport: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path: {
                /**
                 * @description Id of the export.
                 * @example 5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44
                 */
                exportId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "exportId": "5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44",
                     *         "kind": "ledger",
                     *         "format": "csv",
                     *         "columns": [
                     *           "at",
                     *           "kind",
                     *           "asset",
                     *           "amount"
                     *         ],
                     *         "filter": {
                     *           "asset": "USDT"
                     *         },
                     *         "from": "2026-11-01T00:00:00.000Z",
                     *         "to": "2026-12-01T00:00:00.000Z",
                     *         "state": "ready",
                     *         "problem": null,
                     *         "rows": 1204,
                     *         "bytes": 96320,
                     *         "createdAt": "2026-12-01T08:00:00.000Z",
                     *         "createdBy": "0123456789abcdef",
                     *         "endedAt": "2026-12-01T08:00:02.000Z",
                     *         "deletedAt": "2026-12-08T08:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Export"];
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExportFile: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path: {
                /**
                 * @description Id of the export.
                 * @example 5f0c8a1e-7b2d-4c3e-9a77-0e2b6f1d8c44
                 */
                exportId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["AcceptRanges"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            /** @description The one range of it that `Range` asked for; several at once are answered with the whole file. */
            206: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["AcceptRanges"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    "Content-Range": components["headers"]["ContentRange"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            /** @description The file is the one that `If-None-Match` names. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["AcceptRanges"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            /** @description The file ends before the range begins. There is no body. */
            416: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    ETag: components["headers"]["ETag"];
                    "Accept-Ranges": components["headers"]["AcceptRanges"];
                    "Content-Range": components["headers"]["ContentRange"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRefusedRequests: {
        parameters: {
            query?: {
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of refused requests. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "hour": "2026-11-26T09:00:00.000Z",
                     *             "operation": "createSettlement",
                     *             "reason": "CASHOUT_ALLOWLIST",
                     *             "address": "203.0.113.9",
                     *             "count": 3,
                     *             "lastAt": "2026-11-26T09:41:07.120Z"
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["RefusedRequests"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listLedger: {
        parameters: {
            query?: {
                /**
                 * @description Only entries of this asset, by its ticker.
                 * @example USDT
                 */
                asset?: string;
                /**
                 * @description Only entries of assets on this network, by its name.
                 * @example ethereum
                 */
                network?: string;
                /**
                 * @description Only entries of this kind of posting.
                 * @example settle
                 */
                kind?: string;
                /**
                 * @description Only entries posted at this time or later.
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only entries posted before this time.
                 * @example 2026-11-22T00:00:00Z
                 */
                to?: string;
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "at": "2026-11-21T10:15:02.000Z",
                     *             "kind": "credit",
                     *             "cause": "deposit:019ab2c4-6f00-7c3e-9a77-0e2b6f1d8c44",
                     *             "account": "pending",
                     *             "asset": "USDT",
                     *             "network": "ethereum",
                     *             "amount": "48.201",
                     *             "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *             "settlementId": null
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["LedgerEntry"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCredits: {
        parameters: {
            query?: {
                /** @description Only credits of this payment, by its `paymentUid`. */
                payment?: string;
                /**
                 * @description Only credits of this asset, by its ticker.
                 * @example USDT
                 */
                asset?: string;
                /**
                 * @description Only credits of assets on this network, by its name.
                 * @example ethereum
                 */
                network?: string;
                /** @description Only credits in this state. */
                state?: components["schemas"]["CreditState"];
                /**
                 * @description Only credits made at this time or later.
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only credits made before this time.
                 * @example 2026-11-22T00:00:00Z
                 */
                to?: string;
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "creditId": "019ab2c4-6f00-7c3e-9a77-0e2b6f1d8c44",
                     *             "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *             "asset": "USDT",
                     *             "network": "ethereum",
                     *             "pool": "green",
                     *             "state": "maturing",
                     *             "taken": null,
                     *             "gross": "49.9",
                     *             "networkFee": "1.2",
                     *             "commission": "0.499",
                     *             "net": "48.201",
                     *             "remaining": "48.201",
                     *             "creditedAt": "2026-11-21T10:15:02.000Z",
                     *             "maturesAt": "2026-11-22T10:15:02.000Z",
                     *             "maturedAt": null
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["Credit"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getStatement: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path: {
                /**
                 * @description Year and month, UTC.
                 * @example 2026-11
                 */
                month: components["parameters"]["Month"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statement. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "month": "2026-11",
                     *         "from": "2026-11-01T00:00:00.000Z",
                     *         "to": "2026-12-01T00:00:00.000Z",
                     *         "isOver": false,
                     *         "asOf": "2026-11-21T10:20:00.000Z",
                     *         "items": [
                     *           {
                     *             "asset": "USDT",
                     *             "network": "ethereum",
                     *             "opening": "100",
                     *             "credits": {
                     *               "count": 1,
                     *               "gross": "49.9",
                     *               "networkFees": "1.2",
                     *               "commissions": "0.499",
                     *               "feesBorne": "0"
                     *             },
                     *             "cashouts": {
                     *               "count": 1,
                     *               "paid": "38.8",
                     *               "fees": "1.2"
                     *             },
                     *             "charges": {
                     *               "count": 0,
                     *               "amount": "0"
                     *             },
                     *             "refunds": {
                     *               "count": 0,
                     *               "paid": "0",
                     *               "commissionsReturned": "0"
                     *             },
                     *             "withheldPaid": {
                     *               "count": 0,
                     *               "amount": "0"
                     *             },
                     *             "adjustments": "0",
                     *             "closing": "108.201",
                     *             "accounts": {
                     *               "pending": "48.201",
                     *               "available": "60",
                     *               "heldPending": "0",
                     *               "held": "0",
                     *               "reserved": "0",
                     *               "withheld": "0",
                     *               "refunding": "0",
                     *               "owed": "0"
                     *             }
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Statement"];
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAddresses: {
        parameters: {
            query?: {
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the address book. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "addressId": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *             "label": "Treasury",
                     *             "network": "ethereum",
                     *             "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                     *             "tag": "BOOK",
                     *             "createdAt": "2026-11-21T10:15:02.000Z",
                     *             "createdBy": "0a1b2c3d4e5f6071",
                     *             "changedAt": null,
                     *             "changedBy": null,
                     *             "hiddenAt": null,
                     *             "firstUsedAt": "2026-11-21T11:00:00.000Z",
                     *             "lastUsedAt": "2026-11-22T11:00:00.000Z",
                     *             "sent": [
                     *               {
                     *                 "asset": "USDT",
                     *                 "cashouts": 2,
                     *                 "amount": "75.5"
                     *               }
                     *             ]
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["BookAddress"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    addAddress: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "label": "Treasury",
                 *       "network": "ethereum",
                 *       "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
                 *     }
                 */
                "application/json": components["schemas"]["AddAddress"];
            };
        };
        responses: {
            /** @description The entry. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "addressId": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "label": "Treasury",
                     *         "network": "ethereum",
                     *         "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                     *         "tag": "BOOK",
                     *         "createdAt": "2026-11-21T10:15:02.000Z",
                     *         "createdBy": "0a1b2c3d4e5f6071",
                     *         "changedAt": null,
                     *         "changedBy": null,
                     *         "hiddenAt": null,
                     *         "firstUsedAt": "2026-11-21T11:00:00.000Z",
                     *         "lastUsedAt": "2026-11-22T11:00:00.000Z",
                     *         "sent": [
                     *           {
                     *             "asset": "USDT",
                     *             "cashouts": 2,
                     *             "amount": "75.5"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BookAddress"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    hideAddress: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path: {
                /** @description The entry's `addressId`. */
                addressId: components["parameters"]["AddressId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry, hidden. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "addressId": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "label": "Treasury",
                     *         "network": "ethereum",
                     *         "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                     *         "tag": "BOOK",
                     *         "createdAt": "2026-11-21T10:15:02.000Z",
                     *         "createdBy": "0a1b2c3d4e5f6071",
                     *         "changedAt": null,
                     *         "changedBy": null,
                     *         "hiddenAt": "2026-11-23T10:00:00.000Z",
                     *         "firstUsedAt": "2026-11-21T11:00:00.000Z",
                     *         "lastUsedAt": "2026-11-22T11:00:00.000Z",
                     *         "sent": [
                     *           {
                     *             "asset": "USDT",
                     *             "cashouts": 2,
                     *             "amount": "75.5"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BookAddress"];
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    renameAddress: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path: {
                /** @description The entry's `addressId`. */
                addressId: components["parameters"]["AddressId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "label": "Treasury"
                 *     }
                 */
                "application/json": components["schemas"]["RenameAddress"];
            };
        };
        responses: {
            /** @description The entry. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "addressId": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *         "label": "Treasury",
                     *         "network": "ethereum",
                     *         "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                     *         "tag": "BOOK",
                     *         "createdAt": "2026-11-21T10:15:02.000Z",
                     *         "createdBy": "0a1b2c3d4e5f6071",
                     *         "changedAt": null,
                     *         "changedBy": null,
                     *         "hiddenAt": null,
                     *         "firstUsedAt": "2026-11-21T11:00:00.000Z",
                     *         "lastUsedAt": "2026-11-22T11:00:00.000Z",
                     *         "sent": [
                     *           {
                     *             "asset": "USDT",
                     *             "cashouts": 2,
                     *             "amount": "75.5"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BookAddress"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
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
            /** @description The balance, and what was spent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "isEnabled": true,
                     *         "threshold": 75,
                     *         "credits": 120,
                     *         "checksPerDay": "4.5",
                     *         "daysLeft": 26,
                     *         "days": [
                     *           {
                     *             "day": "2026-11-21",
                     *             "checks": 3
                     *           },
                     *           {
                     *             "day": "2026-11-20",
                     *             "checks": 6
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["GatewayScreening"];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Only webhooks in this state. */
                state?: "pending" | "delivered" | "exhausted" | "stopped";
                /** @description Only webhooks that announce this status. */
                status?: components["schemas"]["PaymentStatus"];
                /** @description Only webhooks of this payment, by its `paymentUid`. */
                payment?: string;
                /**
                 * @description Only webhooks written at this time or later.
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only webhooks written before this time.
                 * @example 2026-11-22T00:00:00Z
                 */
                to?: string;
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "items": [
                     *           {
                     *             "id": "4b3a2c1d-0e9f-4a8b-9c7d-6e5f4a3b2c1d",
                     *             "paymentUid": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                     *             "status": "SUCCESS",
                     *             "url": "https://shop.example/hooks",
                     *             "state": "delivered",
                     *             "createdAt": "2026-11-21T10:15:02.000Z",
                     *             "nextAttemptAt": null,
                     *             "deliveredAt": "2026-11-21T10:15:03.000Z",
                     *             "resendRequestedAt": null,
                     *             "attempts": 1,
                     *             "lastAttemptAt": "2026-11-21T10:15:02.500Z",
                     *             "lastResult": "2xx",
                     *             "lastHttpStatus": 200
                     *           }
                     *         ],
                     *         "pagination": {
                     *           "limit": 20,
                     *           "hasMore": false,
                     *           "nextCursor": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["GatewayWebhook"][];
                            pagination: components["schemas"]["Following"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://shop.example/hooks/sluice"
                 *     }
                 */
                "application/json": components["schemas"]["TestWebhook"];
            };
        };
        responses: {
            /** @description What came of it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "webhookId": "1c0e7b52-64f3-4a35-9a0e-4c1f4f0f9d21",
                     *         "url": "https://shop.example/hooks/sluice",
                     *         "body": "{\"paymentId\":\"5a1d9c3e-8f27-4b60-a1c4-7be2d90f6a13\",\"status\":\"SUCCESS\",\"test\":true}",
                     *         "result": "4xx",
                     *         "httpStatus": 401,
                     *         "durationMs": 83,
                     *         "problem": null,
                     *         "answer": {
                     *           "body": "bad signature",
                     *           "contentType": "text/plain",
                     *           "retryAfter": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookTest"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPublicPayment: {
        parameters: {
            query?: {
                /** @description Answer the status-only object instead. */
                statusOnly?: boolean;
            };
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PublicPayment"] | components["schemas"]["PaymentStatusOnly"];
                    };
                };
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    selectOffer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
                /** @description Id of one of the payment's offers. */
                offerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The address is assigned and watched. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SelectOfferResult"] & {
                            /** @enum {string} */
                            assignmentStatus?: "ASSIGNED";
                        };
                    };
                };
            };
            /** @description The address is not watched yet; call again. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SelectOfferResult"] & {
                            /** @enum {string} */
                            assignmentStatus?: "PENDING";
                        };
                    };
                };
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    expirePayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment's status now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PaymentStatusOnly"];
                    };
                };
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    simulateSandboxPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "scenario": "underpaid",
                 *       "amount": "9.5"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description What is to happen.
                     * @enum {string}
                     */
                    scenario: "success" | "acceptable" | "underpaid" | "overpaid" | "wrong_asset" | "seen_then_confirmed" | "late_capture" | "expired";
                    /** @description What arrives, in the asset that arrives; above zero. */
                    amount?: components["schemas"]["MoneyInput"];
                    /** @description What is paid with; for `wrong_asset` what arrives instead. */
                    assetId?: components["schemas"]["Id"];
                };
            };
        };
        responses: {
            /** @description The payment's status afterwards. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PaymentStatusOnly"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    openPaymentSocket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The payment's `paymentUid`. */
                paymentId: components["parameters"]["PaymentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Switching to the WebSocket protocol. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listBalances: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The balances; no items when nothing is settle-able. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["BalanceItem"][];
                        };
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    estimateSettlementFee: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "assetId": "0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10",
                 *       "amount": "25",
                 *       "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
                 *     }
                 */
                "application/json": {
                    assetId: components["schemas"]["Id"];
                    amount: components["schemas"]["MoneyInput"];
                    address: components["schemas"]["AddressInput"];
                };
            };
        };
        responses: {
            /** @description The quote. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                     *         "assetName": "USDT",
                     *         "network": "ethereum",
                     *         "amount": "25",
                     *         "feeLocked": "1.2",
                     *         "netAmount": "23.8",
                     *         "sufficient": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FeeEstimate"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["FeeUnavailable"];
        };
    };
    listSettlements: {
        parameters: {
            query?: {
                /** @description Only cashouts in this status. */
                status?: components["schemas"]["SettlementStatus"];
                /**
                 * @description Only cashouts created at this time or later.
                 * @example 2026-11-21T00:00:00Z
                 */
                createdFrom?: string;
                /**
                 * @description Only cashouts created before this time.
                 * @example 2026-11-22T00:00:00Z
                 */
                createdTo?: string;
                /**
                 * @description Only cashouts settled at this time or later.
                 * @example 2026-11-21T00:00:00Z
                 */
                settledFrom?: string;
                /**
                 * @description Only cashouts settled before this time.
                 * @example 2026-11-22T00:00:00Z
                 */
                settledTo?: string;
                /**
                 * @description Only cashouts of this asset, by its ticker.
                 * @example USDT
                 */
                asset?: string;
                /**
                 * @description Only cashouts on this network, by its name.
                 * @example ethereum
                 */
                network?: string;
                /** @description Page size; values above 100 are read as 100. */
                limit?: components["parameters"]["Limit"];
                /** @description 1-based page. Ignored when `after` is given. */
                page?: components["parameters"]["Page"];
                /** @description Cursor, the `nextCursor` of the page before; overrides `page`. */
                after?: components["parameters"]["After"];
            };
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of cashouts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            items: components["schemas"]["Settlement"][];
                            pagination: components["schemas"]["Pagination"];
                        };
                    };
                };
            };
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSettlement: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
                /**
                 * @description Any 1–255 printable characters. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. Each operation has its own keys.
                 * @example 6f1c1f8e-payout-2026-11-21
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "assetId": "0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10",
                 *       "amount": "25",
                 *       "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                 *       "label": "Treasury",
                 *       "metadata": {
                 *         "requester": "ana@shop.example"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateSettlement"];
            };
        };
        responses: {
            200: components["responses"]["ClaimedSettlement"];
            /** @description Accepted and parked; nothing is claimed yet. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Settlement"];
                    };
                };
            };
            400: components["responses"]["MalformedJson"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            /** @description Refused, or a clash of Idempotency-Keys. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": false,
                     *       "error": {
                     *         "code": "insufficient_balance",
                     *         "message": "The amount 25 is above the available balance 10."
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: false;
                        error: {
                            /** @enum {unknown} */
                            code: "conflict" | "idempotency_conflict" | "insufficient_balance" | "too_many_parked_cashouts" | "screening_required";
                            message: string;
                        };
                    };
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Invalid, or too small. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": false,
                     *       "error": {
                     *         "code": "below_minimum_settlement",
                     *         "message": "The amount is below the settlement minimum."
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: false;
                        error: {
                            /** @enum {unknown} */
                            code: "validation_error" | "below_minimum_settlement" | "amount_below_network_fee";
                            message: string;
                        };
                    };
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["FeeUnavailable"];
        };
    };
    getSettlement: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
            };
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["OneSettlement"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    approveSettlement: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
                /**
                 * @description Any 1–255 printable characters. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. Each operation has its own keys.
                 * @example 6f1c1f8e-payout-2026-11-21
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "totpCode": "492039"
                 *     }
                 */
                "application/json": {
                    /** @description Fresh code from the enrolled authenticator. */
                    totpCode: string;
                };
            };
        };
        responses: {
            200: components["responses"]["ClaimedSettlement"];
            400: components["responses"]["MalformedJson"];
            /** @description Not signed as required, or the authenticator code is missing or wrong. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": false,
                     *       "error": {
                     *         "code": "totp_required",
                     *         "message": "A valid authenticator code is required."
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: false;
                        error: {
                            /** @enum {unknown} */
                            code: "auth_api_key_invalid" | "signature_missing" | "signature_stale" | "signature_invalid" | "totp_required";
                            message: string;
                        };
                    };
                };
            };
            /** @description Not permitted, or no authenticator is enrolled. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-Contract-Revision": components["headers"]["ContractRevision"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": false,
                     *       "error": {
                     *         "code": "totp_not_enrolled",
                     *         "message": "No authenticator is enrolled on this account."
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: false;
                        error: {
                            /** @enum {unknown} */
                            code: "forbidden" | "cashout_not_enabled" | "ip_not_allowed" | "totp_not_enrolled";
                            message: string;
                        };
                    };
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["StateOrIdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    retrySettlement: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
                /**
                 * @description Any 1–255 printable characters. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. Each operation has its own keys.
                 * @example 6f1c1f8e-payout-2026-11-21
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ClaimedSettlement"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["StateOrIdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["FeeUnavailable"];
        };
    };
    cancelSettlement: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Current Unix time in whole seconds; at most 300 seconds off.
                 * @example 1795255200
                 */
                "X-Timestamp": components["parameters"]["Timestamp"];
                /** @description Hex HMAC-SHA256 of `X-Timestamp + "." + raw body`, keyed with the cashout signing secret. */
                "X-Signature": components["parameters"]["Signature"];
                /**
                 * @description Any 1–255 printable characters. The same key replays the original response for 90 days; with another body it is 409 `idempotency_conflict`. Each operation has its own keys.
                 * @example 6f1c1f8e-payout-2026-11-21
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The settlement's `id`. */
                settlementId: components["parameters"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["CancelledSettlement"];
            401: components["responses"]["UnsignedRequest"];
            403: components["responses"]["CashoutForbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["StateOrIdempotencyConflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationError"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    receivePaymentWebhook: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the raw body, keyed with the gateway's newest webhook secret (the whole `whsec_…` string). */
                "X-Webhook-Signature": string;
                /** @description Standard Webhooks id, the same for every attempt of one payment and status. */
                "webhook-id": string;
                /** @description Standard Webhooks time of the attempt, Unix seconds. */
                "webhook-timestamp": string;
                /** @description Standard Webhooks signatures `v1,<base64>` over `id.timestamp.body`, keyed with the decoded bytes after `whsec_`; one per valid secret, separated by spaces. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "paymentId": "7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44",
                 *       "status": "SUCCESS"
                 *     }
                 */
                "application/json": {
                    paymentId: components["schemas"]["Id"];
                    /** @enum {string} */
                    status: "SUCCESS" | "ACCEPTABLE" | "MISMATCH" | "EXPIRED";
                    /**
                     * @description Only in a test that was asked for with `POST /webhooks/test`: the payment does not exist.
                     * @constant
                     */
                    test?: true;
                };
            };
        };
        responses: {
            /** @description Any 2xx is delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Stops the deliveries of this webhook. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
