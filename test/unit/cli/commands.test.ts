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
  const context = { operator: { must, call: must }, operatorUrl: '', baseUrl: '', dev: undefined } as unknown as Context;
  const parsed = parseCommandLine(words, COMMANDS);
  if ('help' in parsed) throw new Error('only help');
  const said = await parsed.command.run(async () => context, parsed.args, parsed.options);
  return { asked, text: 'text' in said ? said.text : '' };
}

const SHOWN = { settlement: { id: 's1', status: 'REJECTED' }, metadata: [], fee: null, events: [], payouts: [] };

const NOTHING = { freezes: [], haltedWallets: [], awaitingComparison: false, awaitingNetworks: [] };

describe('what operators do by command', () => {
  it.each([
    ['settlement reject s1 --reason mistake', SHOWN, 'POST', '/settlements/s1/reject', { reason: 'mistake' }],
    ['settlement list --status PENDING_APPROVAL --gateway g', { items: [] }, 'GET', '/settlements?status=PENDING_APPROVAL&gatewayId=g', undefined],
    ['payment resolve p release --reason clean', { refunds: [] }, 'POST', '/payments/p/aml', { action: 'RELEASE', reason: 'clean' }],
    [
      'payment resolve p refund --reason theirs --address 0x1',
      { refunds: [] },
      'POST',
      '/payments/p/aml',
      { action: 'REFUND', reason: 'theirs', address: '0x1' },
    ],
    ['gateway credits g 50', { credits: 50 }, 'POST', '/gateways/g/screening-credits', { add: 50, reason: null }],
    ['screening set 0x1 90', {}, 'PUT', '/screening/0x1', { score: 90 }],
    ['screening set 0x1 unavailable', {}, 'PUT', '/screening/0x1', { unavailable: true }],
    ['chain pause tron --reason fork', {}, 'POST', '/networks/tron/pause', { reason: 'fork' }],
    ['chain resume tron', {}, 'POST', '/networks/tron/resume', { reason: null }],
    ['job list --limit 5', { items: [] }, 'GET', '/jobs?limit=5', undefined],
    ['dispatch status', NOTHING, 'GET', '/freezes', undefined],
    ['dispatch freeze --scope network:tron', NOTHING, 'POST', '/freeze', { scope: 'network:tron', reason: null }],
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
    'job list --limit many',
  ])('%s is refused before anything is asked', async (line) => {
    await expect(run(line.split(' '))).rejects.toThrow(UsageError);
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
