import { z } from 'zod';
import type { Action } from './message.ts';
import { parseShortActions } from './short-actions.ts';
import { refuse } from './refusals.ts';
import type { WrittenAction } from './action-input.ts';

const most = 3;
const kinds = ['view', 'broadcast', 'http', 'copy'];

const text = z.string().default('');
const words = z.record(z.string(), z.string()).default({});
const WrittenActions = z.array(
  z.object({
    action: text,
    label: text,
    clear: z.boolean().default(false),
    url: text,
    method: text,
    headers: words,
    body: text,
    intent: text,
    extras: words,
    value: text,
  }),
);

/**
 * Reads the `actions` parameter, as JSON or in the short form (`view, Open, https://x; copy, Code, 12`). `newId` makes
 * the id of each.
 *
 * @throws Problem 40018 with the reason appended.
 */
export function parseActions(written: string, newId: () => string): Action[] {
  const trimmed = written.trim();
  const actions = trimmed.startsWith('[') ? parseJsonActions(trimmed) : parseShortActions(trimmed);
  if (actions.length > most) throw refuse('actions_invalid', `only ${String(most)} actions allowed`);
  return actions.map((action) => checkAction(action, newId()));
}

function parseJsonActions(json: string): WrittenAction[] {
  const parsed = WrittenActions.safeParse(readJson(json));
  if (!parsed.success) throw refuse('actions_invalid', 'JSON error: a list of action objects is expected');
  return parsed.data;
}

function readJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw refuse('actions_invalid', 'JSON error: this is not valid JSON', { cause });
  }
}

function checkAction(written: WrittenAction, id: string): Action {
  const action = written.action.toLowerCase();
  const method = written.method.toUpperCase();
  if (!kinds.includes(action)) {
    throw refuse(
      'actions_invalid',
      `parameter 'action' cannot be '${action}', valid values are 'view', 'broadcast', 'http' and 'copy'`,
    );
  }
  if (written.label === '') throw refuse('actions_invalid', "parameter 'label' is required");
  if ((action === 'view' || action === 'http') && written.url === '') {
    throw refuse('actions_invalid', `parameter 'url' is required for action '${action}'`);
  }
  if (action === 'copy' && written.value === '') {
    throw refuse('actions_invalid', "parameter 'value' is required for action 'copy'");
  }
  if (action === 'http' && (method === 'GET' || method === 'HEAD') && written.body !== '') {
    throw refuse('actions_invalid', `parameter 'body' cannot be set if method is ${method}`);
  }
  return {
    id,
    action,
    label: written.label,
    clear: written.clear,
    ...(written.url && { url: written.url }),
    ...(method && { method }),
    ...(Object.keys(written.headers).length > 0 && { headers: written.headers }),
    ...(written.body && { body: written.body }),
    ...(written.intent && { intent: written.intent }),
    ...(Object.keys(written.extras).length > 0 && { extras: written.extras }),
    ...(written.value && { value: written.value }),
  };
}
