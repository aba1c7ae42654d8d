import { describe, expect, it } from 'vitest';
import { type Context, UsageError } from '#ops/cli/command.ts';
import { COMMANDS } from '#ops/cli/commands.ts';
import { parseCommandLine } from '#ops/cli/parse.ts';

interface Asked {
  method: string;
  path: string;
  body: unknown;
}

/** Runs a command line against an operator API that answers with `data`; says what it asked and what it shows. */
async function run(words: string[], data: Record<string, unknown> = {}): Promise<{ asked: Asked[]; text: string }> {
  const asked: Asked[] = [];
  const must = async (method: string, path: string, options?: { body?: unknown }) => {
    asked.push({ method, path, body: options?.body });
    return data;
  };
  const context = { operator: { must, call: must }, people: new Map(), operatorUrl: '', baseUrl: '', dev: undefined } as unknown as Context;
  const parsed = parseCommandLine(words, COMMANDS);
  if ('help' in parsed) throw new Error('only help');
  const said = await parsed.command.run(async () => context, parsed.args, parsed.options);
  return { asked, text: 'text' in said ? said.text : '' };
}

const SHOWN = { settlement: { id: 's1', status: 'REJECTED' }, metadata: [], fee: null, charges: [], events: [], payouts: [] };

const PROPOSAL = {
  id: 'p1',
  act: 'withheld.pay',
  content: { amount: '1', address: '0x1' },
  reason: 'why',
  proposedBy: 'anna',
  status: 'open',
  outcome: null,
  decidedBy: null,
};

const MADE = { keyId: 'k', apiKey: 'sluice_k_s', permissions: ['payment:read'] };
const NOTHING = { freezes: [], haltedWallets: [], unknownTransactions: [], awaitingComparison: false, awaitingNetworks: [] };

describe('what operators do by command', () => {
  it.each([
    ['settlement reject s1 --reason mistake', SHOWN, 'POST', '/settlements/s1/reject', { reason: 'mistake' }],
    ['settlement reject s2 --reason mistake', PROPOSAL, 'POST', '/settlements/s2/reject', { reason: 'mistake' }],
    ['settlement list --status PENDING_APPROVAL --gateway g', { items: [] }, 'GET', '/settlements?status=PENDING_APPROVAL&gatewayId=g', undefined],
    ['payment resolve p release --reason clean', { refunds: [] }, 'POST', '/payments/p/aml', { action: 'RELEASE', reason: 'clean' }],
    [
      'payment resolve p refund --reason theirs --address 0x1',
      { refunds: [] },
      'POST',
      '/payments/p/aml',
      { action: 'REFUND', reason: 'theirs', address: '0x1' },
    ],
    ['key list g', { apiKeys: [] }, 'GET', '/gateways/g', undefined],
    ['key create g', MADE, 'POST', '/gateways/g/api-keys', {}],
    [
      'key create g --name Till --permissions payment:read,key:manage --expires 2099-01-01T00:00:00Z --allowlist 10.0.0.0/8,::1 --reason asked',
      MADE,
      'POST',
      '/gateways/g/api-keys',
      {
        name: 'Till',
        permissions: ['payment:read', 'key:manage'],
        expiresAt: '2099-01-01T00:00:00Z',
        allowlist: ['10.0.0.0/8', '::1'],
        reason: 'asked',
      },
    ],
    ['key revoke g k', {}, 'DELETE', '/gateways/g/api-keys/k', undefined],
    ['gateway credits g 50', { credits: 50 }, 'POST', '/gateways/g/screening-credits', { add: 50, reason: null }],
    ['screening set 0x1 90', {}, 'PUT', '/screening/0x1', { score: 90 }],
    ['screening set 0x1 unavailable', {}, 'PUT', '/screening/0x1', { unavailable: true }],
    ['chain pause tron --reason fork', {}, 'POST', '/networks/tron/pause', { reason: 'fork' }],
    ['chain resume tron', {}, 'POST', '/networks/tron/resume', { reason: null }],
    ['job list --limit 5', { items: [] }, 'GET', '/jobs?limit=5', undefined],
    ['job list --state dead --topic webhook.deliver', { items: [] }, 'GET', '/jobs?state=dead&topic=webhook.deliver', undefined],
    ['search A-1001', { items: [], more: false }, 'GET', '/search?q=A-1001', undefined],
    ['job retry-all settlement.mail --reason mended', { retried: 3, more: false }, 'POST', '/jobs/retry', { topic: 'settlement.mail', reason: 'mended' }],
    ['job retry j --reason mended', { job: {} }, 'POST', '/jobs/j/retry', { reason: 'mended' }],
    ['job discard j --reason unneeded', {}, 'POST', '/jobs/j/discard', { reason: 'unneeded' }],
    ['payment list --q A-1001 --sort oldest', { items: [] }, 'GET', '/payments?q=A-1001&sort=oldest', undefined],
    ['deposit list --tx 0x1 --from 2026-11-21T00:00:00Z', { items: [] }, 'GET', '/deposits?txHash=0x1&from=2026-11-21T00%3A00%3A00Z', undefined],
    ['gateway list --q acme', { items: [] }, 'GET', '/gateways?q=acme&limit=100', undefined],
    ['audit-log --q anna', { items: [] }, 'GET', '/audit-log?q=anna', undefined],
    ['dispatch status', NOTHING, 'GET', '/freezes', undefined],
    ['dispatch freeze --scope network:tron', NOTHING, 'POST', '/freeze', { scope: 'network:tron', reason: null }],
    ['proposal list --status open', { items: [] }, 'GET', '/proposals?status=open', undefined],
    ['proposal show p1', PROPOSAL, 'GET', '/proposals/p1', undefined],
    ['proposal confirm p1', PROPOSAL, 'POST', '/proposals/p1/confirm', { reason: null }],
    ['proposal withdraw p1 --reason no', PROPOSAL, 'POST', '/proposals/p1/withdraw', { reason: 'no' }],
    ['withheld show g', { items: [], transfers: [] }, 'GET', '/gateways/g/withheld', undefined],
    ['withheld pay g a 1 0x1 --reason why', PROPOSAL, 'POST', '/gateways/g/withheld', { assetId: 'a', amount: '1', address: '0x1', reason: 'why' }],
    ['withheld cancel t --reason why', {}, 'POST', '/withheld/t/cancel', { reason: 'why' }],
    ['payment transfer p a --reason again', { family: 3 }, 'POST', '/payments/p/transfers', { assetId: 'a', reason: 'again' }],
    ['wallet clear hot --network tron --reason known', {}, 'POST', '/wallets/clear', { network: 'tron', wallet: 'hot', reason: 'known' }],
    ['dispatch unfreeze --force --reason lost', NOTHING, 'POST', '/unfreeze', { force: true, scope: null, reason: 'lost' }],
  ] as const)('%s', async (line, answer, method, path, body) => {
    expect((await run(line.split(' '), answer)).asked).toEqual([{ method, path, body }]);
  });

  it.each([
    'settlement reject s1',
    'payment resolve p release',
    'payment resolve p forgive --reason x',
    'payment resolve p refund --reason x',
    'gateway credits g 0',
    'gateway credits g 1.5',
    'screening set 0x1 101',
    'dispatch unfreeze --force',
    'withheld pay g a 1 0x1',
    'withheld cancel t',
    'payment transfer p a',
    'wallet clear hot --network tron',
    'wallet clear hot --reason known',
    'job list --limit many',
    'job discard j',
  ])('%s is refused before anything is asked', async (line) => {
    await expect(run(line.split(' '))).rejects.toThrow(UsageError);
  });

  it('says what is left when a freeze is lifted: transactions that are unknown, and wallets that are halted', async () => {
    const halted = { network: 'tron', role: 'hot', address: 'T1', reason: 'transaction aa is not one of ours' };
    const { text } = await run(['dispatch', 'unfreeze'], {
      ...NOTHING,
      haltedWallets: [
        { ...halted, unexplained: ['aa', 'bb'], clearable: false },
        { ...halted, role: 'deposit', address: 'T2', unexplained: [], clearable: true },
      ],
      unknownTransactions: [{ network: 'tron', transactions: 2 }],
    });
    expect(text).toContain('unknown to the books: aa, bb');
    expect(text).toContain('sluice wallet clear T2 --network tron');
    expect(text).toContain('2 transactions of ours are unknown to the books: sluice dispatch unknown');
  });

  it('does not say that nothing is frozen when the signer has said nothing for more than two minutes', async () => {
    const open = { state: 'open', reason: '', reportedAt: '2026-11-20T10:00:00.000Z' };
    const status = async (now: string) => (await run(['dispatch', 'status'], { ...NOTHING, signerJournal: open, now })).text;
    expect(await status('2026-11-20T10:02:00.000Z')).toBe('nothing is frozen');
    expect(await status('2026-11-20T10:02:01.000Z')).toMatch(/everything +2026-11-20T10:00:00.000Z +the signer says nothing since then/);
  });

  it('shows a proposal in full before it is confirmed, and speaks as nobody that npm start does not know', async () => {
    const { text } = await run(['proposal', 'show', 'p1'], PROPOSAL);
    for (const line of [/act +withheld\.pay/, /amount +1/, /address +0x1/, /reason +why/, /proposed by +anna/]) expect(text).toMatch(line);
    await expect(run(['proposal', 'confirm', 'p1', '--as', 'carol'])).rejects.toThrow('there is nobody called carol here');
  });

  it('shows who asked for a cashout first, and what an approval waits for', async () => {
    const metadata = [
      { key: 'requester', value: 'ada' },
      { key: 'about', value: 'rent\\u{1b}[2J' },
    ];
    const { text } = await run(['settlement', 'show', 's1'], {
      ...SHOWN,
      settlement: { id: 's1', status: 'PENDING_APPROVAL', holdReason: 'approval_cap' },
      metadata,
    });
    expect(text).toContain('on hold     approval_cap');
    expect(text.indexOf('requester')).toBeLessThan(text.indexOf('about'));
    expect(text).not.toContain('\u001b');
  });
});
