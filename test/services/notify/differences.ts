/** Intended difference from a recorded response. */
export interface Difference {
  readonly because: string;
  readonly status: number;
  readonly error?: string | null;
  readonly message?: string;
  readonly title?: string;
  readonly type?: string;
  readonly paths?: readonly string[];
}

const queued = {
  because: 'a destination that fails for now is queued, so the call succeeds',
  status: 200,
  error: null,
};
const typeNames = { because: 'type words of other systems are understood', status: 200, error: null, type: 'failure' };
const written = { because: 'what is no text is written out', status: 200, error: null, title: 'n' };
const page = { because: 'an answer in the form that was asked for, never a page', status: 404 };

/** Differences by the name of the recorded exchange. The README of the service lists the same for users. */
export const differences: Readonly<Record<string, Difference>> = {
  'notify-invalid-utf8-json-400': {
    because: 'text that is not UTF-8 is read as windows-1252',
    status: 200,
    error: null,
    message: 'ÿþ',
  },
  'fail-debug-loglevel': queued,
  'fail-partial-424-json': queued,
  'fail-partial-424-text': queued,
  'fail-refused-424': queued,
  'fail-stateless-424': queued,
  'notify-bad-type-400': typeNames,
  'notify-bad-type-form-400': typeNames,
  'alertmanager-mapped-type-400': { ...typeNames, paths: ['/backup-daily', '/daily'], message: 'Disk nearly full' },
  'notify-type-empty-json': { because: 'an empty type is info', status: 200, error: null, type: 'info' },
  'notify-type-uppercase-400': {
    because: 'the case of a type does not matter',
    status: 200,
    error: null,
    type: 'info',
  },
  'notify-body-number': { ...written, message: '12' },
  'notify-body-object': { ...written, message: '{\n  "a": 1\n}' },
  'notify-json-array-500': {
    because: "an array is the client's fault",
    status: 400,
    error: 'Invalid JSON Payload provided',
  },
  'notify-raw-textplain': { because: 'plain text is a body', status: 200, message: 'hello raw' },
  'notify-form-too-long-400': { because: 'forms may be as long as JSON', status: 200 },
  'notify-too-large-form-400': { because: 'a sentence instead of a page', status: 400 },
  'tag-form-repeated': {
    because: 'repeated fields are alternatives',
    status: 200,
    paths: ['/critical-oncall', '/monitoring'],
  },
  'bad-key-404': { ...page, error: 'The requested resource was not found' },
  'unknown-404': { ...page, error: 'The requested resource was not found' },
  'unknown-404-text': page,
  'root-html': { because: 'its pages are those of the app', status: 200 },
  'api-only-root-421': { because: 'a sentence instead of a page', status: 421 },
  'alertmanager-raw-400': { because: 'the payload of Alertmanager is understood', status: 200, error: null },
};
