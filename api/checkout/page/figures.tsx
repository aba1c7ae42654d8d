import type { ComponentChildren, JSX } from 'preact';
import { Changing } from './changing.tsx';
import { Icon } from '#api/page/icons.tsx';
import type { MessageKey } from './messages.ts';
import type { CopyTarget } from './model.ts';
import type { View } from './view.ts';

const COPY: Record<CopyTarget, { label: MessageKey; done: MessageKey; part: string }> = {
  amount: { label: 'copy.amount', done: 'copied.amount', part: 'copy-amount' },
  address: { label: 'copy.address', done: 'copied.address', part: 'copy-address' },
  'payment-id': { label: 'copy.payment-id', done: 'copied.payment-id', part: 'copy-payment-id' },
  transaction: { label: 'copy.transaction', done: 'copied.transaction', part: 'copy-transaction' },
};

/** Copies `text` as it is. Shown only where a program runs; its room is kept until then, so that nothing jumps. */
export function CopyButton({ view, target, text }: { view: View; target: CopyTarget; text: string }): JSX.Element {
  const { label, done, part } = COPY[target];
  const copied = view.copied === target;
  return (
    <button
      type="button"
      class={`button button-copy button-small${copied ? ' button-copied' : ''} needs-program`}
      data-part={part}
      onClick={() => view.actions?.copy(target, text)}
    >
      <Icon name={copied ? 'check' : 'copy'} />
      <Changing text={view.translate(copied ? done : label)} look="hidden-visually" />
    </button>
  );
}

/** The same over a whole row: what is under it is text all the while, and one tap anywhere copies it. */
export function CopyRow({ view, target, text }: { view: View; target: 'amount' | 'address'; text: string }): JSX.Element {
  const { label, done, part } = COPY[target];
  const copied = view.copied === target;
  return (
    <button
      type="button"
      class={`row-copy${copied ? ' row-copied' : ''}${view.translate('copy').length > LONG_WORD ? ' row-copy-long' : ''} needs-program`}
      data-part={part}
      aria-label={view.translate(copied ? done : label)}
      onClick={() => view.actions?.copy(target, text)}
    >
      <span class="row-copy-word">
        <Changing text={view.translate(copied ? 'copied' : 'copy')} />
      </span>
      <Icon name={copied ? 'check' : 'copy'} />
    </button>
  );
}

/** A longer word beside a copy sign would take the room of what is copied, on phones. */
const LONG_WORD = 6;

/** From how many characters on an amount gets smaller letters, so as to stay on one line, and still smaller ones. */
const MIDDLING = 11;
const LONG = 16;

/**
 * No translator touches it. Written with a capital because of the property of that name: set to a text it means yes, and a
 * renderer of HTML leaves out what is false.
 */
export const UNTRANSLATED: object = { Translate: 'no' };

/** Text that must survive copying by hand and reads left to right everywhere: amounts, ids, hashes (ux 3). */
export function Exact({ text, part, kind }: { text: string; part?: string; kind: 'amount' | 'code' }): JSX.Element {
  return (
    <bdi
      dir="ltr"
      {...UNTRANSLATED}
      class={`exact exact-${kind}${text.length > LONG ? ' exact-long' : text.length > MIDDLING ? ' exact-middling' : ''}`}
      data-part={part}
    >
      {text}
    </bdi>
  );
}

/** An address in groups of four that exist for the eye only: its text is in one piece, also on the clipboard (ux 3). */
export function Address({ address }: { address: string }): JSX.Element {
  const groups = address.match(/.{1,4}/g) ?? [];
  return (
    <bdi dir="ltr" {...UNTRANSLATED} class="exact address">
      {groups.map((group, index) => [
        index === 0 ? null : <wbr />,
        <span class={index === 0 || index >= groups.length - 2 ? 'group group-end' : 'group'}>{group}</span>,
      ])}
    </bdi>
  );
}

/** One line of a list of figures. */
export function Figure({ label, part, children }: { label: string; part?: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd data-part={part}>{children}</dd>
    </div>
  );
}

/** The payment's id, which the merchant's help asks for. */
export function PaymentIdFigure({ view }: { view: View }): JSX.Element {
  const { id } = view.snapshot.payment;
  return (
    <Figure label={view.translate('details.payment-id')}>
      <Exact text={id} kind="code" part="payment-id" />
      <CopyButton view={view} target="payment-id" text={id} />
    </Figure>
  );
}
