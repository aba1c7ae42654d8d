import { aml } from '#state-machines/aml/machine.ts';
import { chain } from '#state-machines/chain/machine.ts';
import { payment } from '#state-machines/payment/machine.ts';
import { payout } from '#state-machines/payout/machine.ts';
import { settlement } from '#state-machines/settlement/machine.ts';
import type { AnyStateMachine } from 'xstate';

type Machine = AnyStateMachine;
type Node = Machine['root'];

export interface Diagram {
  /** Where it is committed, relative to the repository's root. */
  path: string;
  content: string;
}

interface Edge {
  from: string;
  event: string;
  guard: string;
  to: string;
  effects: string;
}

/** Every machine's diagram as it must stand in the repository; a test compares them with the files. */
export function diagrams(): Diagram[] {
  return [
    { path: 'state-machines/payment/machine.md', content: renderMachine(payment.machine, 'Payment') },
    {
      path: 'state-machines/settlement/machine.md',
      content: renderMachine(settlement.machine, 'Settlement', ['REQUESTED', 'PENDING_APPROVAL', 'UNDERFUNDED', 'WAITING_AML_CREDIT']),
    },
    { path: 'state-machines/payout/machine.md', content: renderMachine(payout.machine, 'Payout') },
    { path: 'state-machines/aml/machine.md', content: renderMachine(aml.machine, 'What screening made of a payment') },
    { path: 'state-machines/chain/machine.md', content: renderMachine(chain, 'Chain') },
  ];
}

/**
 * Draws a machine as Markdown: a Mermaid state diagram, its edges as a table, and the children its states start.
 * `starts` lists the states a row may be created in; the machine's own initial state when left out.
 */
export function renderMachine(machine: Machine, title: string, starts: readonly string[] = initialOf(machine.root)): string {
  const edges = statesBelow(machine.root).flatMap(edgesOf);
  const children = statesBelow(machine.root).flatMap((node) => node.invoke.map((child) => `| ${node.key} | ${child.id} |`));
  return [
    `# ${title}`,
    '',
    'Generated from `machine.ts` by `npm run diagrams`; do not edit.',
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...starts.map((name) => `  [*] --> ${name}`),
    ...draw(machine.root, '  '),
    '```',
    '',
    '| From | Event | Condition | To | Also happens |',
    '|---|---|---|---|---|',
    ...edges.map((e) => `| ${e.from} | ${e.event} | ${e.guard} | ${e.to} | ${e.effects} |`),
    ...(children.length === 0 ? [] : ['', '| State | Starts |', '|---|---|', ...children]),
    '',
  ].join('\n');
}

function draw(node: Node, indent: string): string[] {
  return Object.values(node.states).flatMap((state) => {
    const nested = Object.keys(state.states).length > 0;
    return [
      ...(nested
        ? [`${indent}state ${state.key} {`, ...initialOf(state).map((name) => `${indent}  [*] --> ${name}`), ...draw(state, `${indent}  `), `${indent}}`]
        : []),
      ...edgesOf(state).map((e) => `${indent}${e.from} --> ${e.to} : ${label(e)}`),
      ...(state.type === 'final' ? [`${indent}${state.key} --> [*]`] : []),
    ];
  });
}

function label({ event, guard, effects }: Edge): string {
  return `${event}${guard === '' ? '' : ` [${guard}]`}${effects === '' ? '' : ` / ${effects}`}`;
}

/** A node and all states in it, outermost first. */
function statesBelow(node: Node): Node[] {
  return [node, ...Object.values(node.states).flatMap(statesBelow)];
}

function initialOf(node: Node): string[] {
  return node.initial.target.map((state) => state.key);
}

function edgesOf(node: Node): Edge[] {
  return [...node.transitions.values()].flat().map((transition) => ({
    from: node.parent === undefined ? '(any)' : node.key,
    event: eventName(transition.eventType),
    guard: guardName(transition.guard),
    to: transition.target?.[0]?.key ?? node.key,
    effects: transition.actions
      .map(actionName)
      .filter((name) => name !== '')
      .join(', '),
  }));
}

/** `xstate.done.actor.connect` → `connect done`; a delay by its name. */
function eventName(type: string): string {
  const [library, kind, ...rest] = type.split('.');
  if (library !== 'xstate') return type;
  if (kind === 'after') return `after ${rest[0]}`;
  return `${rest.at(-1)} ${kind === 'done' ? 'done' : 'failed'}`;
}

function guardName(guard: unknown): string {
  if (guard === undefined) return '';
  if (typeof guard === 'string') return guard;
  const parts = (guard as { guards?: unknown[] }).guards;
  if (parts !== undefined) return parts.map(guardName).join(' and ');
  return (guard as { type?: string; name: string }).type ?? (guard as { name: string }).name;
}

/** An action without a name only carries a result into the context and is not shown. */
function actionName(action: unknown): string {
  return typeof action === 'string' ? action : ((action as { type?: string }).type ?? '').replace(/^xstate\..*/, '');
}
