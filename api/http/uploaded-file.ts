import { invalid } from '#shared/core/errors.ts';

/**
 * The one file of a form that was sent as multipart/form-data (RFC 7578), byte for byte; what it is called and what it is said to be is nobody's business. Pure.
 * @throws validation_error naming the field when there is no such file
 */
export function uploadedFile(body: Buffer, contentType: string | undefined, field: string): Buffer {
  const boundary = /^multipart\/form-data;.*?\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '');
  const mark = Buffer.from(`\r\n--${boundary?.[1] ?? boundary?.[2] ?? ''}`);
  if (boundary === null) throw invalid(field, 'must be sent as a file');
  const whole = Buffer.concat([Buffer.from('\r\n'), body]);
  for (let at = whole.indexOf(mark); at !== -1; ) {
    const begins = at + mark.length;
    const ends = whole.indexOf(mark, begins);
    if (ends === -1) break;
    const head = whole.indexOf('\r\n\r\n', begins);
    if (head !== -1 && head < ends) {
      const names = whole.toString('latin1', begins, head);
      if (new RegExp(`^content-disposition:[^\\r\\n]*;\\s*name="${field}"`, 'im').test(names) && /;\s*filename=/i.test(names))
        return whole.subarray(head + 4, ends);
    }
    at = ends;
  }
  throw invalid(field, 'must be sent as a file');
}
