import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { find, readIndex } from '#api/docs/page/finding.ts';
import { readPages } from '#api/docs/pages.ts';
import type { Contract } from '#api/docs/reference/contract.ts';
import { findableOperations, openReference } from '#api/docs/reference/draw-reference.ts';
import { resultsPage, searchIndex } from '#api/docs/search.ts';
import { readCheckoutContract } from '#api/http/read-contract.ts';
import { ERRORS } from '#shared/core/errors.ts';

// What a reader types, and where it has to lead: to the page that answers it, among the first three.

const references = (
  [
    ['openapi', '/docs/api', 'API reference'],
    ['operator', '/docs/operator-api', 'Operator API'],
    ['checkout', '/docs/checkout-api', 'Checkout channel'],
  ] as const
).map(([name, address, title]) =>
  openReference({
    address,
    title,
    root: '',
    contract: (name === 'checkout' ? readCheckoutContract('api/contract') : parse(readFileSync(`api/contract/${name}.yaml`, 'utf8'))) as Contract,
    limited: false,
    tryProgram: null,
  }),
);
const made = searchIndex(readPages({ pages: 'ops/docs', runbooks: 'ops/runbooks' }), references.flatMap(findableOperations));
// As browsers get it.
const index = readIndex(JSON.stringify(made));
const first = (question: string, most = 3): string[] => find(index, question, most).map(({ href }) => href);

describe('a question in the words of a newcomer', () => {
  it.each([
    ['how do I verify a webhook', '/docs/webhooks'],
    ['verify a webhook', '/docs/webhooks#verify-a-webhook'],
    ['webhook signature', '/docs/webhooks'],
    ['getting started', '/docs/quickstart'],
    ['how do I take my first payment', '/docs/accept-a-payment'],
    ['create a payment', '/docs/api/create-payment'],
    ['createPayment', '/docs/api/create-payment'],
    ['readSnapshot', '/docs/checkout-api/read-snapshot'],
    ['what does MISMATCH mean', '/docs/statuses'],
    ['payment statuses', '/docs/statuses'],
    ['test mode', '/docs/sandbox'],
    ['how can I test without real money', '/docs/sandbox'],
    ['donations of any amount', '/docs/open-amount'],
    ['withdraw my balance', '/docs/cashout'],
    ['payout', '/docs/cashout'],
    ['how do I sign a request', '/docs/signing'],
    ['signature_invalid', '/docs/errors#signature_invalid'],
    ['hmac', '/docs/signing'],
    ['why is my cashout stuck', '/docs/cashout-states'],
    ['error codes', '/docs/errors'],
    ['rate limits', '/docs/errors#rate-limits'],
    ['429', '/docs/errors'],
    ['rotate an api key', '/docs/api-keys'],
    ['permissions of a key', '/docs/api-keys'],
    ['node sdk', '/docs/client'],
    ['change the logo of the checkout', '/docs/hosted-page'],
    ['invite people to the dashboard', '/docs/console'],
    ['go to production checklist', '/docs/going-live'],
    ['what changed in the new version', '/docs/changelog'],
    ['install on my own server', '/docs/self-hosting'],
    ['docker', '/docs/self-hosting'],
    ['systemd', '/docs/without-containers'],
    ['add a token', '/docs/networks'],
    ['bitcoin node', '/docs/networks'],
    ['upgrade to a new release', '/docs/upgrading'],
    ['restore a backup', '/docs/backup'],
    ['prometheus alerts', '/docs/monitoring'],
    ['opentelemetry', '/docs/tracing'],
    ['how many payments a second', '/docs/benchmarks'],
    ['balances and credits', '/docs/ledger'],
    ['contribute', '/docs/contributing'],
    ['SLUICE_MASTER_KEY', '/docs/'],
    ['list balances', '/docs/api/list-balances'],
    ['reorganisation', '/docs/runbooks/reorg'],
  ])('%s', (question, address) => {
    const found = first(question);
    expect(
      found.some((href) => href === address || href.startsWith(address.endsWith('/') ? address : `${address}#`)),
      found.join(' '),
    ).toBe(true);
  });
});

describe('the first letters', () => {
  it.each([
    ['we', '/docs/webhooks'],
    ['ve', '/docs/webhooks'],
    ['qu', '/docs/quickstart'],
    ['sa', '/docs/sandbox'],
    ['ca', '/docs/cashout'],
    ['er', '/docs/errors'],
    ['web', '/docs/webhooks'],
    ['how do I ve', '/docs/webhooks'],
  ])('“%s” are enough to choose', (typed, address) => expect(first(typed)).toContain(address));

  it('find with a slip of the finger too', () => {
    expect(first('webhok')).toContain('/docs/webhooks');
    expect(first('quickstrat')).toContain('/docs/quickstart');
  });
});

describe('everything that has a name', () => {
  it.each(Object.keys(ERRORS))('the error code %s', (code) => expect(first(code)).toContain(`/docs/errors#${code}`));

  it('every operation, by what it is called in the contract', () => {
    const lost = references.flatMap(({ address, operations }) =>
      operations.filter(({ id, slug }) => !first(id, 8).includes(`${address}/${slug}`)).map(({ id }) => `${address} ${id}`),
    );
    expect(lost).toEqual([]);
  });
});

describe('whatever is typed', () => {
  it.each(['', ' ', '/', '😀', '\u0000', 'a'.repeat(10_000), '__proto__', 'constructor', '((((', '"" OR ""', 'the'])('%j is answered', (typed) => {
    expect(Array.isArray(find(index, typed, 30))).toBe(true);
  });

  it('is shown as text', () => {
    expect(resultsPage([], '<script>alert(1)</script>"')).not.toMatch(/<script|"”/);
    expect(resultsPage([{ title: '<b>', where: '&', href: '/docs/x"y' }], 'q')).toContain('<a href="/docs/x&quot;y">&lt;b&gt;</a>');
  });
});
