import { z } from 'zod';
import type { Action } from './message.ts';
import { parseShortActions } from './short-actions.ts';
import { refuse } from './refusals.ts';
import type { ActionInput } from './action-input.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

const maxActions = 3;
const kinds = ['view', 'broadcast', 'http', 'copy'];

const optionalText = z.string().default('');
const stringMap = z.record(z.string(), z.string()).default({});
const ActionInputs = z.array(
  z.object({
    action: optionalText,
    label: optionalText,
    clear: z.boolean().default(false),
    url: optionalText,
    method: optionalText,
    headers: stringMap,
    body: optionalText,
    intent: optionalText,
    extras: stringMap,
    value: optionalText,
  }),
);

/**
 * Parses the `actions` parameter: JSON or the short form (`view, Open, https://x; copy, Code, 12`). `newId` creates the
 * id of each action.
 *
 * @throws Problem 40018 with the reason appended
 */
export function parseActions(input: string, newId: () => string): Action[] {
  const trimmed = input.trim();
  const actions = trimmed.startsWith('[') ? parseJsonActions(trimmed) : parseShortActions(trimmed);
  if (actions.length > maxActions) throw refuse('actions_invalid', `only ${String(maxActions)} actions allowed`);
  return actions.map((action) => checkAction(action, newId()));
}

function parseJsonActions(json: string): ActionInput[] {
  const parsed = ActionInputs.safeParse(readJson(json));
  if (!parsed.success) throw refuse('actions_invalid', 'JSON error: a list of action objects is expected');
  return parsed.data;
}

function readJson(json: string): unknown {
  return parseJsonOrThrow(json, (cause) => refuse('actions_invalid', 'JSON error: this is not valid JSON', { cause }));
}

function checkAction(input: ActionInput, id: string): Action {
  const action = input.action.toLowerCase();
  const method = input.method.toUpperCase();
  if (!kinds.includes(action)) {
    throw refuse(
      'actions_invalid',
      `parameter 'action' cannot be '${action}', valid values are 'view', 'broadcast', 'http' and 'copy'`,
    );
  }
  if (input.label === '') throw refuse('actions_invalid', "parameter 'label' is required");
  if ((action === 'view' || action === 'http') && input.url === '') {
    throw refuse('actions_invalid', `parameter 'url' is required for action '${action}'`);
  }
  if (action === 'copy' && input.value === '') {
    throw refuse('actions_invalid', "parameter 'value' is required for action 'copy'");
  }
  if (action === 'http' && (method === 'GET' || method === 'HEAD') && input.body !== '') {
    throw refuse('actions_invalid', `parameter 'body' cannot be set if method is ${method}`);
  }
  return {
    id,
    action,
    label: input.label,
    clear: input.clear,
    ...(input.url && { url: input.url }),
    ...(method && { method }),
    ...(Object.keys(input.headers).length > 0 && { headers: input.headers }),
    ...(input.body && { body: input.body }),
    ...(input.intent && { intent: input.intent }),
    ...(Object.keys(input.extras).length > 0 && { extras: input.extras }),
    ...(input.value && { value: input.value }),
  };
}
