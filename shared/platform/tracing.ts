import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { ServiceError } from '#shared/core/errors.ts';

type Attributes = Record<string, string | number>;

/** How a span begins, beside its name. */
interface Beginning {
  /** Unix milliseconds, where it began before it was known what it belongs to. */
  startTime?: number;
  kind?: 'server';
  links?: Link[];
}

/** What work is handed where nothing is traced: it keeps nothing. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Whether this process keeps traces at all: what only they need is not looked up otherwise. */
export function isTracing(): boolean {
  return propagation.fields().length > 0;
}

/**
 * Runs `work` inside a span named `name`; a failure is recorded on the span and rethrown.
 * Without a tracing SDK in the process this costs next to nothing and records nothing.
 */
export async function withSpan<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>, { kind, ...rest }: Beginning = {}): Promise<T> {
  if (!isTracing()) return work(NO_SPAN);
  const options = { attributes, ...(kind === 'server' && { kind: SpanKind.SERVER }), ...rest };
  return trace.getTracer('sluice').startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      // What a caller did wrong is an answer, and no failure of ours.
      if (error instanceof ServiceError && error.status < 500) span.setAttribute('error.code', error.code);
      else {
        span.recordException(error as Error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The current trace as a W3C `traceparent`, to travel in a stream message or an outbox row; undefined outside a trace. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/**
 * The current `traceparent` if it is of the trace that `own` belongs to, else `own`: what is done for one payment on the way
 * through another one's trace, or outside of any, is handed on in its own.
 */
export function traceparentWithin(own: string | null | undefined): string | undefined {
  const current = currentTraceparent();
  if (!own) return current;
  return current !== undefined && traceIdOf(current) === traceIdOf(own) ? current : own;
}

/** The trace that a `traceparent` names. */
export function traceIdOf(traceparent: string): string {
  return traceparent.split('-')[1] ?? '';
}

/** Runs `work` as a continuation of the trace that `traceparent` names, if it names one. */
export function continueTrace<T>(traceparent: string | undefined | null, work: () => Promise<T>): Promise<T> {
  if (!traceparent) return work();
  return context.with(contextOf(traceparent), work);
}

/** Runs `work` inside a span of the trace that `traceparent` names, with a link to where it was called from; inside a span of the current one if it names none. */
export function spanWithin<T>(traceparent: string | undefined | null, name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const caller = trace.getActiveSpan()?.spanContext();
  const away = traceparent && caller !== undefined && isSpanContextValid(caller) && caller.traceId !== traceIdOf(traceparent);
  return continueTrace(traceparent, () => withSpan(name, attributes, work, away ? { links: [{ context: caller }] } : {}));
}

/**
 * Runs `work` inside a span that several traces have a share in: it is part of the first, and each of the others gets a span of
 * its own with the same times and a link to it. `startTime` in Unix milliseconds.
 */
export async function sharedSpan<T>(
  traceparents: readonly string[],
  span: { name: string; attributes: Attributes; startTime: number },
  work: () => Promise<T>,
): Promise<T> {
  const { name, attributes, startTime } = span;
  const [first, ...others] = traceparents;
  return continueTrace(first, () =>
    withSpan(
      name,
      attributes,
      async (own) => {
        const result = await work();
        const links = [{ context: own.spanContext() }];
        for (const other of others) trace.getTracer('sluice').startSpan(name, { attributes, startTime, links }, contextOf(other)).end();
        return result;
      },
      { startTime },
    ),
  );
}

/** Ids of the span at hand, for a log line; empty outside of a trace. */
export function traceIds(): { traceId?: string; spanId?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span !== undefined && isSpanContextValid(span) ? { traceId: span.traceId, spanId: span.spanId } : {};
}

function contextOf(traceparent: string): Context {
  return propagation.extract(context.active(), { traceparent });
}
