import type { PoliciesScreen } from '#api/console/page/model.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { readPolicyBook } from '#api/gateways/read-policies.ts';
import { tryPolicies } from '#api/gateways/try-policies.ts';
import { listActiveAssets } from '#api/store/assets.ts';
import { countApprovers, countMembersWho } from '#api/store/people.ts';
import { listApprovingKeys, listPolicyVersions, type PolicyVersion } from '#api/store/policies.ts';
import { invalid } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { PolicyBook, WrittenPolicy } from '#shared/core/written-policies.ts';
import { filterOf } from './list-query.ts';

/** Fields of the form that adds a policy. */
const FIELDS = ['above', 'day', 'asset', 'destination', 'days', 'initiator', 'route', 'outcome', 'people'] as const;

interface Asked {
  gateway: Gateway;
  /** Of the page. */
  href: string;
  personId: string;
  query: URLSearchParams;
}

/**
 * The policies of a gateway. What somebody is about to change stands in the address (`book`), so that each step is a link: the page keeps nothing, and goes back as pages do.
 * @throws validation_error for what are no policies
 */
export async function policiesScreen(deps: Deps, { gateway, href, personId, query }: Asked): Promise<PoliciesScreen | { to: string }> {
  const draft = draftOf(query);
  if (draft !== null && query.has('change')) return { to: `${href}?book=${encodeURIComponent(JSON.stringify(changed(draft, query)))}` };
  const { sql } = deps.db;
  const [versions, assets, owners, approvers, approvingKeys] = await Promise.all([
    listPolicyVersions(sql, gateway.id, POLICY.policyVersionsShown),
    listActiveAssets(sql),
    countMembersWho(sql, gateway.id, 'settings:write'),
    countApprovers(sql, gateway.id),
    listApprovingKeys(sql, gateway.id),
  ]);
  const capUsd = gateway.settings.cashout.approvalCapUsd;
  const inForce: PolicyBook = { policies: bookOf(versions.find(({ state }) => state === 'in_force')).policies, capUsd };
  const proposed = versions.find(({ state }) => state === 'proposed');
  const tried = draft ?? (proposed === undefined ? null : bookOf(proposed));
  return {
    kind: 'policies',
    inForce,
    draft,
    waiting:
      proposed === undefined
        ? null
        : { version: proposed.version, by: proposed.proposedByEmail, own: proposed.proposedBy === personId, book: bookOf(proposed) },
    trial: tried === null ? null : await tryPolicies(deps, { gateway, before: inForce, after: tried }),
    owners,
    approvers,
    approvingKeys,
    assets: assets.map(({ id, symbol, networkName }) => ({ id, symbol, network: networkName })),
    most: { policies: POLICY.policiesPerGateway, people: POLICY.approversMaximum },
    history: versions.map(({ version, state, proposedByEmail, decidedByEmail, proposedAt, decidedAt, ...written }) => ({
      version,
      state,
      by: proposedByEmail,
      decidedBy: decidedByEmail,
      at: (decidedAt ?? proposedAt).toISOString(),
      book: bookOf(written),
    })),
  };
}

function bookOf(version: Pick<PolicyVersion, 'policies' | 'capUsd'> | undefined): PolicyBook {
  return version === undefined ? { policies: [], capUsd: null } : readPolicyBook({ policies: version.policies, capUsd: version.capUsd });
}

function draftOf(query: URLSearchParams): PolicyBook | null {
  const text = query.get('book');
  if (text === null) return null;
  try {
    return readPolicyBook(JSON.parse(text));
  } catch (error) {
    throw error instanceof SyntaxError ? invalid('book', 'must be JSON') : error;
  }
}

/** The draft with what a form asks for: a policy more, or another cap. Pure. @throws validation_error */
function changed(draft: PolicyBook, query: URLSearchParams): PolicyBook {
  if (query.get('change') === 'cap') return readPolicyBook({ ...draft, capUsd: filterOf(query, ['cap']).cap ?? null });
  return readPolicyBook({ ...draft, policies: [...draft.policies, policyOf(filterOf(query, FIELDS))] });
}

/** A policy as its form says it. Pure. @throws validation_error */
function policyOf({ above, day, asset, destination, days, initiator, route, outcome, people }: Partial<Record<(typeof FIELDS)[number], string>>): unknown {
  if (destination === 'younger' && days === undefined) throw invalid('days', 'is required');
  const when = {
    ...(above !== undefined && { aboveUsd: above }),
    ...(day !== undefined && { dayAboveUsd: day }),
    ...(asset !== undefined && { assetIds: [asset] }),
    ...(destination === 'younger' ? { youngerThanDays: Number(days) } : destination !== undefined && { destination }),
    ...(initiator !== undefined && { initiator }),
    ...(route !== undefined && { route }),
  };
  const outcomes: Record<string, WrittenPolicy['outcome']> = {
    allow: { kind: 'allow' },
    refuse: { kind: 'refuse' },
    approve: { kind: 'approve', people: Number(people ?? 1) },
  };
  return { when, outcome: outcomes[outcome ?? ''] };
}
