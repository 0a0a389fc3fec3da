import { z } from 'zod';

const text = z.string().nullish();
/** Clients disagree on whether a switch is a boolean or a word. */
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
  /** Ours: how long the message counts. */
  expire: text,
});
export type PublishJson = z.infer<typeof Fields>;

/**
 * The JSON form of a publish request, POST or PUT to `/`. Unknown fields are ignored, and so is the case of a field's
 * name, as at the peer: scripts on Windows write `Topic`. A numeric string as priority is more than the peer takes.
 */
export const PublishJson = z.preprocess(inLowerCase, Fields);

function inLowerCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = new Map<string, unknown>();
  for (const [name, each] of Object.entries(value)) {
    const lower = name.toLowerCase();
    if (name === lower || !fields.has(lower)) fields.set(lower, each);
  }
  return Object.fromEntries(fields);
}

/** The fields as the parameters they stand for; each overrides the header of its name. */
export function jsonParameters(json: PublishJson): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  const set = (name: string, value: string | null | undefined): void => {
    // A lone half of a character cannot be written down.
    if (value) parameters.set(name, value.toWellFormed());
  };
  set('x-title', json.title);
  // 0 stands for no priority, as in the peer's apps.
  set('x-priority', json.priority ? String(json.priority) : undefined);
  set('x-tags', json.tags?.join(','));
  set('x-click', json.click);
  set('x-icon', json.icon);
  set('x-actions', json.actions && json.actions.length > 0 ? JSON.stringify(json.actions) : undefined);
  set('x-attach', json.attach);
  set('x-filename', json.filename);
  set('x-markdown', word(json.markdown));
  set('x-email', json.email);
  set('x-call', json.call);
  set('x-delay', json.delay);
  set('x-cache', word(json.cache));
  set('x-firebase', word(json.firebase));
  set('x-sequence-id', json.sequence_id);
  set('x-expire', json.expire);
  return parameters;
}

function word(value: boolean | string | null | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value ?? '';
}
