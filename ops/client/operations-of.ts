/** What of a contract file the list is made from. */
export interface ContractFile {
  paths: Record<string, Record<string, Described>>;
}

interface Described {
  operationId: string;
  security?: Record<string, string[]>[];
  parameters?: { $ref?: string }[];
  responses: Record<string, unknown>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const AUTH: Readonly<Record<string, string>> = { apiKey: 'key', signedRequest: 'signed' };
/** POSTs without an Idempotency-Key that may be repeated: they read, or lead to where they led before. */
const HARMLESS: ReadonlySet<string> = new Set(['verifyPayment', 'previewPayment', 'selectOffer', 'expirePayment', 'estimateSettlementFee']);

/** The client's list of operations as the text of its module, from a parsed contract file; what is no plain HTTP call is left out. */
export function operationsOf(contract: ContractFile, source: string): string {
  const rows = Object.entries(contract.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = item[method];
      return described === undefined || '101' in described.responses ? [] : [rowOf(path, method, described)];
    }),
  );
  return `// Generated from ${source} by npm run generate; do not edit.
/** How an operation is called. */
export interface Operation {
  method: string;
  path: string;
  auth: 'none' | 'key' | 'signed';
  /** Takes an Idempotency-Key. */
  keyed: boolean;
  /** May be sent again when the answer was lost. */
  repeatable: boolean;
}

export const OPERATIONS = {
${rows.join('\n')}
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
`;
}

function rowOf(path: string, method: string, { operationId, security, parameters = [] }: Described): string {
  const [scheme] = Object.keys(security?.[0] ?? {});
  const auth = scheme === undefined ? 'none' : AUTH[scheme];
  if (auth === undefined) throw new Error(`${operationId}: security scheme ${scheme} is unknown`);
  const keyed = parameters.some(({ $ref }) => $ref?.endsWith('IdempotencyKey'));
  const repeatable = keyed || method === 'get' || HARMLESS.has(operationId);
  return `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}', auth: '${auth}', keyed: ${keyed}, repeatable: ${repeatable} },`;
}
