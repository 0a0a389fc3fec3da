import { z } from 'zod';
import { isRecord } from '../../contracts/is-record.ts';

const text = z.string().nullish();
/** Clients send switches as a boolean or as text. */
const toggle = z.union([z.boolean(), z.string()]).nullish();

const Fields = z.object({
  topic: z.unknown().optional(),
  message: text,
  title: text,
  priority: z.union([z.int(), z.string().regex(/^\d*$/)]).nullish(),
  tags: z.array(z.string()).nullish(),
  click: text,
  icon: text,
  actions: z.array(z.unknown()).nullish(),
  attach: text,
  filename: text,
  markdown: toggle,
  email: text,
  call: text,
  delay: text,
  cache: toggle,
  firebase: toggle,
  sequence_id: text,
  /** Extension of Homeport: lifetime of the message. */
  expire: text,
});
export type PublishJson = z.infer<typeof Fields>;

/**
 * JSON body of a publish request, POST or PUT to `/`. Unknown fields and the case of field names are ignored, as in
 * ntfy, because Windows scripts write `Topic`. Numeric strings as priority are an extension.
 */
export const PublishJson = z.preprocess(lowerCaseKeys, Fields);

function lowerCaseKeys(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const fields = new Map<string, unknown>();
  for (const [name, field] of Object.entries(value)) {
    const lower = name.toLowerCase();
    if (name === lower || !fields.has(lower)) fields.set(lower, field);
  }
  return Object.fromEntries(fields);
}

/** Returns the fields as parameters; each overrides the header of its name. */
export function toParameters(json: PublishJson): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  const set = (name: string, value: string | null | undefined): void => {
    // Replaces lone surrogates, which cannot be encoded.
    if (value) parameters.set(name, value.toWellFormed());
  };
  set('x-title', json.title);
  // 0 means no priority, as in ntfy's apps.
  set('x-priority', json.priority ? String(json.priority) : undefined);
  set('x-tags', json.tags?.join(','));
  set('x-click', json.click);
  set('x-icon', json.icon);
  set('x-actions', json.actions && json.actions.length > 0 ? JSON.stringify(json.actions) : undefined);
  set('x-attach', json.attach);
  set('x-filename', json.filename);
  set('x-markdown', formatToggle(json.markdown));
  set('x-email', json.email);
  set('x-call', json.call);
  set('x-delay', json.delay);
  set('x-cache', formatToggle(json.cache));
  set('x-firebase', formatToggle(json.firebase));
  set('x-sequence-id', json.sequence_id);
  set('x-expire', json.expire);
  return parameters;
}

function formatToggle(value: boolean | string | null | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value ?? '';
}
