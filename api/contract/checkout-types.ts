// Generated from api/contract/checkout.yaml by npm run generate; do not edit.
export interface paths {
    "/p/{paymentId}/select": {
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
         * Choose an asset of a hosted payment and get its deposit address
         * @description The same as the public select, for payments in `HOSTED` mode: 200 when the address is watched and may be shown, 202 to call
         *     again after `retryAfterMs`, idempotent, one address per network. It shares the public select's rate limit. A payment in `API`
         *     mode is 403.
         */
        post: operations["selectOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/p/{paymentId}/simulate": {
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
         * Play a scenario on a hosted sandbox payment
         * @description The same as the public simulate, for the buttons of a sandbox payment's page; it shares its rate limit. A payment in `API` mode
         *     is 403.
         */
        post: operations["simulateSandboxPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/p/{paymentId}/snapshot": {
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
         * Read all that the page shows of a hosted payment
         * @description What the socket sends by itself, for a page whose socket is down. True at one moment; a payment that is overdue and unpaid is
         *     expired first. A payment in `API` mode is 403.
         */
        get: operations["readSnapshot"];
        put?: never;
        post?: never;
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
        /** @description All that the page knows of a payment, whole each time. Of two, the one with the earlier `serverTime` is old news. */
        Snapshot: {
            /**
             * Format: date-time
             * @description Service time at which all of this was true; drive countdowns from it.
             */
            serverTime: string;
            payment: components["schemas"]["PublicPayment"];
            /** @description Coins that were seen on their way and decided nothing yet. */
            pendingDeposit: components["schemas"]["PendingDeposit"] | null;
            /**
             * Format: date-time
             * @description Until when a late deposit is captured.
             */
            graceEndsAt: string;
            /**
             * @description Which way a `MISMATCH` went.
             * @enum {string|null}
             */
            mismatchSide: "UNDER" | "OVER" | null;
            /** @description Whether the deposit that decided came after the deadline. */
            lateCapture: boolean;
            /** @description The deposit that decided; null until one did. */
            paid: components["schemas"]["PaidDeposit"] | null;
            /** @description Every network that is mentioned, by name. */
            networks: {
                [key: string]: components["schemas"]["NetworkFacts"];
            };
            merchant: {
                /** @description As the merchant wants to be called. */
                name: string;
                /** @description Host of `callbackUrl`; null without one. */
                host: string | null;
                /** @description Path of the logo on this host; null without one. */
                logoPath: string | null;
                /** @description Where payers get help. */
                supportUrl: string | null;
            };
            /** @description The payment's `callbackUrl` with its parameters, its id and its status as it is now. */
            returnUrl: string;
            /**
             * @description What codes of tokens hold: the address alone, or a payment URI.
             * @enum {string}
             */
            qrMode: "SAFE" | "URI";
        };
        PendingDeposit: {
            assetSymbol: string;
            network: string;
            amount: components["schemas"]["Decimal"];
            /** @description 0 until a block holds it. */
            confirmations: number;
            /** @description How many it takes; null where the chain itself says when it is final. */
            required: number | null;
            txHash: string;
            explorerTxUrl: string;
            /** @description Whether it was first seen before the deadline. */
            inTime: boolean;
        };
        PaidDeposit: {
            assetSymbol: string;
            assetType: components["schemas"]["AssetType"];
            network: string;
            amount: components["schemas"]["Decimal"];
            /** @description The block it is in; null in the sandbox. */
            block: number | null;
            /**
             * Format: date-time
             * @description When that block was made.
             */
            at: string;
            /** @description Whether it is in another asset than the offer by which it was judged, and so was valued at its own market price. */
            otherCoin: boolean;
            /** @description What that offer asked for; null for an open amount. */
            requested: {
                amount: components["schemas"]["Decimal"];
                assetSymbol: string;
                network: string;
            } | null;
        };
        NetworkFacts: {
            /** @description As people call it. */
            displayName: string;
            /** @enum {string} */
            family: "evm" | "tron" | "bitcoin";
            /** @description EIP-155 id as text for EVM; the network's own name elsewhere. */
            chainId: string;
            nativeSymbol: string;
            /** @description About how long a payment of this value takes there; null where nobody can say. */
            expectedSeconds: number | null;
        };
        /**
         * @description `SUCCESS`: paid as asked. `ACCEPTABLE`: off by no more than the tolerance. `MISMATCH`: off by more; the funds are credited all the
         *     same. `EXPIRED`: unpaid at the deadline; a deposit within the grace period reopens it. All but `PENDING` send a webhook.
         * @enum {string}
         */
        PaymentStatus: "PENDING" | "SUCCESS" | "ACCEPTABLE" | "MISMATCH" | "EXPIRED";
        /** Format: date-time */
        Timestamp: string;
        /** Format: uuid */
        Id: string;
        /** @description Decimal string with up to 18 decimal places. */
        Decimal: string;
        /** @enum {string} */
        AssetType: "NATIVE" | "ERC20" | "TRC20" | "BEP20";
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
        /** @description Decimal string greater than 0 with up to 18 decimal places; no sign, exponent, spaces or leading zeros. */
        MoneyInput: string;
        /**
         * @description Who bears a fee. `PLATFORM` only where the gateway's billing says so.
         * @enum {string}
         */
        FeePayer: "MERCHANT" | "CUSTOMER" | "PLATFORM";
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
    };
    parameters: {
        /** @description The payment's `paymentUid`. */
        PaymentId: string;
    };
    requestBodies: never;
    headers: {
        /** @description Id of this request in our logs; quote it when asking for help. */
        RequestId: string;
        /** @description Revision of this contract. */
        ContractRevision: "2.2.0";
        /** @description Whole seconds to wait. */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    selectOffer: {
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
                 *       "offerId": "0d6f6a0e-6f4e-4a53-9d55-51e1ad1a4b57"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of one of the payment's offers.
                     */
                    offerId: string;
                };
            };
        };
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
                 *       "scenario": "success"
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
            /** @description What the page shows afterwards. */
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
                        data: components["schemas"]["Snapshot"];
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
    readSnapshot: {
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
            /** @description The payment as its page shows it. */
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
                        data: components["schemas"]["Snapshot"];
                    };
                };
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
