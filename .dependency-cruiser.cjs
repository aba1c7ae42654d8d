// Who may import whom (architecture 1). The TypeScript projects refuse most of it already; this says why, and covers
// folders inside one project and the doors to libraries.

/** A library may be imported from these files only. */
const door = (library, from, comment) => ({
  name: `one-door-${library.replace(/[^a-z]/g, '')}`,
  comment: comment ?? `${library} is used through ${from}`,
  severity: 'error',
  from: { pathNot: `^(${from}|test/|ops/)` },
  to: { path: `node_modules/${library}/` },
});

const never = (name, from, to, comment) => ({ name, comment, severity: 'error', from: { path: from }, to: typeof to === 'string' ? { path: to } : to });

module.exports = {
  forbidden: [
    { name: 'no-cycles', comment: 'A cycle has no bottom to start reading at.', severity: 'error', from: {}, to: { circular: true } },
    never('core-is-pure', '^shared/core/', { pathNot: '^shared/core/' }, 'shared/core imports nothing.'),
    never(
      'machines-are-pure',
      '^state-machines/',
      { pathNot: '^(state-machines/|shared/core/|node_modules/xstate/)' },
      'state-machines imports shared/core and xstate.',
    ),
    never(
      'chains-know-core',
      '^shared/chains/',
      '^(shared/platform|state-machines|indexer|api|ops|test)/',
      'shared/chains imports shared/core and its own libraries.',
    ),
    never(
      'platform-knows-core',
      '^shared/platform/',
      '^(shared/chains|state-machines|indexer|api|ops|test)/',
      'shared/platform imports shared/core and its own libraries.',
    ),
    never(
      'indexer-cannot-pay',
      '^indexer/',
      '^shared/chains/(payers|signers)\\.ts|^shared/chains/[a-z]+/(payer|signer)\\.ts',
      'An indexer holds no keys and builds no transaction.',
    ),
    never('indexer-one-machine', '^indexer/', '^state-machines/(payment|settlement|payout|ledger)/', 'An indexer knows the chain machine only.'),
    never('api-not-chain-machine', '^api/', '^state-machines/chain/', 'The chain machine belongs to the indexer.'),
    never('nobody-imports-deployables', '^(shared|state-machines)/', '^(indexer|api)/', 'Only test and ops import a deployable.'),
    never('indexer-not-api', '^indexer/', '^(api|ops|test)/', 'Deployables meet in Redis and Postgres, not in code.'),
    never('api-not-indexer', '^api/', '^(indexer|ops|test)/', 'Deployables meet in Redis and Postgres, not in code.'),
    never('ops-not-test', '^ops/', '^test/', 'What ships does not need its tests.'),
    never('store-is-the-bottom', '^api/store/', '^api/(?!store/|deps\\.ts)', 'api/store imports no other folder of the api.'),
    never(
      'payout-rules-are-pure',
      '^api/payouts/rules/',
      { path: '^(api/(?!payouts/rules/)|shared/platform/)', dependencyTypesNot: ['type-only'] },
      'What worker and signer share is computed from what they are given: nothing is looked up.',
    ),
    never('ledger-above-store', '^api/ledger/', '^api/(?!store/|ledger/|deps\\.ts)', 'api/ledger stands on the store.'),
    never(
      'use-cases-know-no-http',
      '^api/(payments|settlements|aml|billing|screening|payouts|treasury|gateways|ledger|consumers|jobs|signer|audit|console|people)/',
      '^api/(http|operations)/',
      'http → operations → use cases, never back.',
    ),
    never(
      'page-is-isomorphic',
      '^api/checkout/page/',
      { pathNot: '^(api/page/|api/checkout/page/|shared/core/|node_modules/(preact|preact-render-to-string)/)' },
      'The page runs on the server and in browsers: it imports shared/core and its own libraries.',
    ),
    never(
      'shared-page-is-pure',
      '^api/page/',
      { pathNot: '^(api/page/|shared/core/|node_modules/(preact|lean-qr|intl-messageformat)/)' },
      'What all pages share knows none of them.',
    ),
    never('page-without-its-browser', '^api/(?!checkout/page/browser/)', '^api/checkout/page/browser/', 'What only browsers have is an entry of its own.'),
    never(
      'console-page-is-pure',
      '^api/console/page/',
      {
        pathNot:
          '^(api/page/|api/console/page/|api/contract/(operator-)?types\\.ts|shared/core/|node_modules/(preact|preact-render-to-string|@simplewebauthn/browser)/)',
      },
      'The console’s pages are drawn from what they are given: what the contract’s operations answer.',
    ),
    never('console-without-its-browser', '^api/(?!console/page/browser/)', '^api/console/page/browser/', 'What only browsers have is an entry of its own.'),
    door('@simplewebauthn/server', 'api/people/passkeys\\.ts'),
    door('@simplewebauthn/browser', 'api/console/page/browser/'),
    door('preact', 'api/((checkout|console)/)?page/'),
    door('preact-render-to-string', 'api/(checkout|console)/page/render\\.tsx'),
    door('intl-messageformat', 'api/page/messages\\.ts'),
    door('lean-qr', 'api/page/qr\\.tsx?'),
    door('ws', 'api/http/(payment-socket|socket-conversation)\\.ts|shared/chains/evm/head-news\\.ts'),
    door('xstate', 'state-machines/|indexer/'),
    door('postgres', 'shared/platform/postgres(-connection)?\\.ts'),
    door('redis', 'shared/platform/redis-connection\\.ts'),
    door('@redis', 'shared/platform/redis-connection\\.ts'),
    door('bullmq', 'api/jobs/queue\\.ts'),
    door('ioredis', 'api/jobs/queue\\.ts'),
    door('express', 'api/http/'),
    door('marked', 'api/docs/render\\.ts'),
    door('shiki', 'api/docs/highlight\\.ts'),
    door('minisearch', 'api/docs/page/finding\\.ts'),
    never('docs-without-their-browser', '^api/(?!docs/page/browser/)', '^api/docs/page/browser/', 'What only browsers have is an entry of its own.'),
    door('openapi-backend', 'api/http/'),
    door('openid-client', 'api/clients/identity-provider\\.ts'),
    door('viem', 'shared/chains/evm/'),
    door('hash-wasm', 'shared/chains/(evm/keccak|bitcoin/digests)\\.ts'),
    door('tronweb', 'shared/chains/tron/signer\\.ts'),
    door('lossless-json', 'shared/chains/tron/json\\.ts|shared/chains/bitcoin/json\\.ts'),
    door('bitcoinjs-lib', 'shared/chains/bitcoin/|ops/devnet/bitcoin/|ops/dev/local-bitcoin\\.ts'),
    door('prom-client', 'shared/platform/metric-registry\\.ts'),
    door('@opentelemetry', 'shared/platform/tracing(-export)?\\.ts'),
    door('pino', 'shared/platform/logger\\.ts'),
    door(
      'zod',
      'shared/platform/(config|provider-rules)\\.ts|api/gateways/(gateway-settings|read-policies)\\.ts|api/people/(desk|gateway-acts/[a-z-]+|operator-acts)\\.ts',
    ),
    door('umzug', 'shared/platform/migrate\\.ts'),
    {
      name: 'one-door-otplib',
      comment: 'otplib is used in one file.',
      severity: 'error',
      from: { pathNot: '(^|/)totp\\.ts$|^test/' },
      to: { path: 'node_modules/(otplib|@otplib)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.sluice|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
