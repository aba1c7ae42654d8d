import { context, propagation, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('sluice');

/**
 * Runs `work` inside a span named `name`; a failure is recorded on the span and rethrown.
 * Without a tracing SDK in the process this costs next to nothing and records nothing.
 */
export async function withSpan<T>(name: string, attributes: Record<string, string | number>, work: (span: Span) => Promise<T>): Promise<T> {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.recordException(error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR });
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

/** Runs `work` as a continuation of the trace that `traceparent` names, if it names one. */
export function continueTrace<T>(traceparent: string | undefined | null, work: () => Promise<T>): Promise<T> {
  if (!traceparent) return work();
  return context.with(propagation.extract(context.active(), { traceparent }), work);
}
