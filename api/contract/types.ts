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
         * @description The gateway's payments, newest first. Needs the permission `payment:read`.
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
         *     and gets 403 here. Needs the permission `payment:create`.
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
         * @description Validates and prices a create-payment request and creates nothing. With `whatIf` it also says what status a deposit of
         *     that asset and amount would resolve the payment to. Needs the permission `payment:create`.
         */
        post: operations["previewPayment"];
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
         *     attempt; an unreachable chain is 503 and uses none. Needs the permission `payment:inquire`.
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
         * @description The decision step by step (price and its source, rounding, tolerance, deposits, blocks, the rule that fired). Needs the permission `payment:read`.
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
         * @description Every webhook of the payment with every delivery attempt, oldest first. Needs the permission `payment:read`.
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
         * @description Queues the newest webhook of the payment once more, with the same `webhook-id`, body and signature key. A resend does not count
         *     towards the six attempts. 409 when the payment has sent no webhook. Needs the permission `payment:create`.
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
         * @description Every asset the gateway can be paid in or cash out, with its id, decimals, minimum, confirmations and health. Needs the permission `payment:read`.
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
         *     the offer's `depositAddress` on the public read. Assets of one network share one address. For payments in `API` mode only.
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
         * @description Drives a payment created with `isSandbox: true` through the same rules and webhooks as a real one, without touching any
         *     balance. 409 on a payment that is not sandbox.
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
         * @description The hosted checkout's live channel. Send an HTTP upgrade; the server answers 101 and then sends JSON text messages with the
         *     public payment object, first at once and then whenever it changes. The client may send `{ "command": "select", "offerId": … }`,
         *     which selects as the public select does; without WebSockets the checkout host offers the same over HTTP.
         *     A payment in `API` mode is refused with 403.
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
         *     the pool's balance parks the cashout where the gateway has parking, and is 409 `insufficient_balance` otherwise. A parked
         *     cashout activates by itself (checked about once a minute) and is rejected 7 days after creation.
         *
         *     Repeat with the same Idempotency-Key after a timeout; the original response is replayed. Poll the get endpoint for the result.
         *     Needs the permission `settlement:create`. This release answers 501 to the routes `AML_HELD` and `SMART`.
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
         * @description Checks an `UNDERFUNDED` cashout's balance at once instead of waiting for the next round. 409 when it is still short, no longer
         *     parked, or waits for screening credit. No body. Needs the permission `settlement:create`.
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
         *     parked, also when it just activated. No body. Needs the permission `settlement:create`.
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
         *     any 2xx is delivery, redirects are failures, 410 stops. Events of one payment arrive in order.
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
        ToleranceInput: string;
        /** @description Destination on the asset's chain. EVM with its EIP-55 checksum (all lower or all upper case is accepted too); TRON and Bitcoin with theirs. */
        AddressInput: string;
        /** Format: date-time */
        Timestamp: string;
        /**
         * @description Every `error.code` there is. Codes are stable; branch on them. `method_not_allowed` (405) answers a method that a path does not have.
         * @enum {string}
         */
        ErrorCode: "auth_api_key_invalid" | "signature_missing" | "signature_stale" | "signature_invalid" | "totp_required" | "forbidden" | "cashout_not_enabled" | "ip_not_allowed" | "totp_not_enrolled" | "not_found" | "method_not_allowed" | "malformed_json" | "conflict" | "idempotency_conflict" | "insufficient_balance" | "too_many_parked_cashouts" | "screening_required" | "payload_too_large" | "unsupported_media_type" | "validation_error" | "below_minimum_settlement" | "amount_below_network_fee" | "rate_limit_exceeded" | "internal_error" | "not_implemented" | "fee_estimation_unavailable" | "service_unavailable";
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
        };
        CreatePayment: {
            /** @description ISO-style code, any case. */
            currencyCode: string;
            amount: components["schemas"]["MoneyInput"];
            /**
             * @description `PAYLINK` for a payment made from a saved payment link.
             * @default DIRECT
             * @enum {string}
             */
            type: "DIRECT" | "PAYLINK";
            /**
             * @description UUID of the saved link. Required when type is `PAYLINK`; ignored otherwise.
             * @default null
             */
            paylinkId: string | null;
            /**
             * @default HOSTED
             * @enum {string}
             */
            checkoutMode: "HOSTED" | "API";
            /**
             * Format: uri
             * @description Where the browser goes after the result. Required in `HOSTED`; refused in `API`. localhost is allowed.
             */
            callbackUrl?: string;
            /** @description Appended to the callback's query string. Hosted only. */
            callbackParams?: {
                [key: string]: unknown;
            };
            /**
             * Format: uri
             * @description Where webhooks go. Optional in `HOSTED`; required in `API`.
             */
            webhookUrl?: string;
            /** @description Stored with the payment for your bookkeeping. */
            webhookParams?: {
                [key: string]: unknown;
            };
            /**
             * @description Validity window in seconds. 0 or below means 3600. No upper bound.
             * @default 3600
             */
            timeoutSeconds: number;
            /**
             * @description Who bears the network fee; the gateway's setting when omitted.
             * @enum {string}
             */
            txFeePayer?: "MERCHANT" | "CUSTOMER";
            /**
             * @description Who bears the commission; the gateway's setting when omitted.
             * @enum {string}
             */
            commissionFeePayer?: "MERCHANT" | "CUSTOMER";
            overAcceptableDiff?: components["schemas"]["ToleranceInput"];
            underAcceptableDiff?: components["schemas"]["ToleranceInput"];
            /**
             * @description US dollars, or percent of the expected US dollar amount; the gateway's setting when omitted.
             * @enum {string}
             */
            acceptableDiffKind?: "ABSOLUTE" | "PERCENTAGE";
            /** @description When false any paid amount resolves to `SUCCESS`; the gateway's setting when omitted. */
            checkAmountDeviation?: boolean;
            /** @description Restricts the assets offered and locks your own prices. Omitted, the gateway's assets are offered at current prices. */
            assets?: {
                assetId: components["schemas"]["Id"];
                assetPriceUsd: components["schemas"]["MoneyInput"];
            }[];
            /**
             * @description Display-language hint for the checkout.
             * @default null
             */
            language: string | null;
            /**
             * @description A payment without a real address, for trying things out.
             * @default false
             */
            isSandbox: boolean;
        };
        CreateOpenAmountPayment: {
            /**
             * @description Display currency.
             * @default USD
             */
            currencyCode: string;
            /**
             * @default HOSTED
             * @enum {string}
             */
            checkoutMode: "HOSTED" | "API";
            /**
             * Format: uri
             * @description Required in `HOSTED`; refused in `API`.
             */
            callbackUrl?: string;
            /** @description Appended to the callback's query string. Hosted only. */
            callbackParams?: {
                [key: string]: unknown;
            };
            /**
             * Format: uri
             * @description Optional in `HOSTED`; required in `API`.
             */
            webhookUrl?: string;
            /** @description Stored with the payment for your bookkeeping. */
            webhookParams?: {
                [key: string]: unknown;
            };
            /**
             * @description Validity window in seconds. 0 or below means 3600. No upper bound.
             * @default 3600
             */
            timeoutSeconds: number;
            /**
             * @description Display-language hint for the checkout.
             * @default null
             */
            language: string | null;
        };
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
        PaymentSummary: {
            paymentUid: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            /** @enum {string} */
            checkoutMode: "HOSTED" | "API";
            amount: components["schemas"]["Decimal"];
            amountUsd: components["schemas"]["Decimal"];
            currencyCode: string;
            createdAt: components["schemas"]["Timestamp"];
            expiresAt: components["schemas"]["Timestamp"];
            isVerified: boolean;
            isSandbox: boolean;
            openAmount: boolean;
        };
        PublicPayment: {
            id: components["schemas"]["Id"];
            status: components["schemas"]["PaymentStatus"];
            /** @enum {string} */
            checkoutMode: "HOSTED" | "API";
            /** @description Invoice amount exactly as it was sent. */
            amount: string;
            amountUsd: components["schemas"]["Decimal"];
            currencyCode: string;
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
            /** @description Open-amount minimum. */
            minAmountUsd?: string;
            isSandbox: boolean;
            language: string | null;
            txFeePayer: components["schemas"]["FeePayer"];
            commissionFeePayer: components["schemas"]["FeePayer"];
            /**
             * Format: uuid
             * @description The offer last selected.
             */
            selectedOfferId: string | null;
            /**
             * Format: uuid
             * @description The asset actually paid; may differ from the selected one.
             */
            paidAssetId?: string;
            paidAssetSymbol?: string;
            /** @description Present once the payment resolves on chain. */
            txHash?: string;
            /** @description Present once resolved. */
            receivedAmount?: string;
            /** @description Link to the transaction; present once resolved. */
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
            amountUsd: components["schemas"]["Decimal"];
            /** @description What the judging offer asked for; absent before a select and for open-amount payments. */
            expectedAmount?: string;
            /** @description Quoted asset; absent before a select. */
            assetSymbol?: string;
            /**
             * Format: uuid
             * @description Asset actually received.
             */
            receivedAssetId?: string;
            receivedAssetSymbol?: string;
            /** @description In the received asset. */
            receivedAmount?: string;
            /** @description Its market value at confirmation in cents. */
            receivedAmountUsd?: string;
            /** @description Signed difference from the expected amount in US dollars. */
            deviationUsd?: string;
            depositPath?: components["schemas"]["DepositPath"];
            amlState?: components["schemas"]["AmlState"];
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
            /** @description Network fee actually taken, in the received asset. */
            txFee?: string;
            /** @description Commission actually taken, in the received asset. */
            commissionFee?: string;
            txFeePayer?: components["schemas"]["FeePayer"];
            commissionFeePayer?: components["schemas"]["FeePayer"];
            /** @description Every deposit of the payment, later ones included. */
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
            confirmations: number;
            /** @description Null until the deposit is final. */
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
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description Sent as webhook-id.
             */
            id: string;
            status: components["schemas"]["PaymentStatus"];
            url: string;
            /** @enum {string} */
            state: "pending" | "delivered" | "exhausted" | "stopped";
            createdAt: components["schemas"]["Timestamp"];
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** Format: date-time */
            deliveredAt: string | null;
            attempts: {
                number: number;
                startedAt: components["schemas"]["Timestamp"];
                /** Format: date-time */
                finishedAt: string | null;
                /** @enum {string|null} */
                result: "2xx" | "3xx" | "4xx" | "5xx" | "timeout" | "dns" | "tls" | "refused" | "blocked" | null;
                httpStatus: number | null;
                durationMs: number | null;
                /** @description A resend. */
                manual: boolean;
            }[];
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
            /** @description Smallest cashout in the asset; null means the equivalent of 1 US dollar. */
            minimumSettlement: string | null;
            /** @description Blocks after which an ordinary payment resolves; null where the chain itself says what is final. */
            confirmations: number | null;
            /**
             * @description `DEGRADED`: no fresh price or the chain is not being followed closely. `PAUSED`: an operator stopped it.
             * @enum {string}
             */
            health: "OK" | "DEGRADED" | "PAUSED";
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
            label?: string;
            /** @description Your own one-level object, at most 4 KB; echoed on reads and shown to the approver, a `requester` key first. */
            metadata?: {
                [key: string]: string | number | boolean | null;
            };
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
        /** @description Part of the contract, not available in this release. */
        NotImplemented: {
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
                 *         "code": "not_implemented",
                 *         "message": "This operation is not available yet."
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: false;
                    error: {
                        /** @constant */
                        code: "not_implemented";
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
    };
    parameters: {
        /** @description The payment's `paymentUid`. */
        PaymentId: string;
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
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
                    };
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
                        data: {
                            amount: components["schemas"]["Decimal"];
                            amountUsd: components["schemas"]["Decimal"];
                            currencyCode: string;
                            offers: components["schemas"]["Offer"][];
                            whatIf?: {
                                status: components["schemas"]["PaymentStatus"];
                                deviationUsd?: components["schemas"]["SignedDecimal"];
                            };
                        };
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
            501: components["responses"]["NotImplemented"];
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
                     *         "deposits": [
                     *           {
                     *             "asset": "USDT",
                     *             "assetId": "0b2f6a52-5c1e-4f0a-8f8e-3a3a5b1c9d10",
                     *             "network": "ethereum",
                     *             "amount": "99.5",
                     *             "txHash": "0x5e0f7b6f2f6a4c9d0f1f0e3b1b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
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
                    network?: string;
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
            501: components["responses"]["NotImplemented"];
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
            /** @description The steps, in order. */
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
                            paymentUid: components["schemas"]["Id"];
                            status: components["schemas"]["PaymentStatus"];
                            steps: {
                                /** @description Name of the rule. */
                                rule: string;
                                /** @description What it saw and decided, as a sentence. */
                                text: string;
                                /** @description The numbers it used. */
                                figures?: {
                                    [key: string]: string;
                                };
                            }[];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
                     *             "minimumSettlement": null,
                     *             "confirmations": 12,
                     *             "health": "OK"
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
                            /** @constant */
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
                            /** @constant */
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
                    amount?: components["schemas"]["MoneyInput"];
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
            501: components["responses"]["NotImplemented"];
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
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
            501: components["responses"]["NotImplemented"];
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
