import { refuse } from '../refusals.ts';
import { fromBytes, trimSpace } from './bytes.ts';
import { runTemplate } from './evaluate.ts';
import { LimitError, ExecutionError } from './errors.ts';
import { isFunction } from './functions/functions.ts';
import { parseTemplate } from './parse.ts';
import { TemplateRun, type TemplateEnvironment } from './run.ts';
import { TemplateSyntaxError, type Node } from './syntax.ts';
import { toValue } from './values.ts';
import { parseJsonOrThrow } from '../../../contracts/parse-json.ts';

/** Limits of ntfy: bytes of a template and characters of its output. */
const maxTemplateBytes = 32 * 1024;
const maxOutputLength = 1024 * 1024;
/** Maximum size in bytes of a JSON body for templates. */
export const templateBodyLimit = 128 * 1024;
const maxSteps = 1_000_000;

/** Nested templates and calls of data are not allowed. */
const disallowed = /\{\{-?\s*(?:call|template|define|block)\b/;
/** Matches actions and escaped line breaks of a header. */
const actionsAndEscapedBreaks = /\{\{[^]*?\}\}|\\n/g;

/**
 * Parses the data of a template.
 *
 * @throws Problem 40042
 */
export function parseTemplateData(body: string): unknown {
  return parseJsonOrThrow(body, (cause) => refuse('template_not_json', undefined, { cause }));
}

/**
 * Renders a template and trims the output. `errorPrefix` precedes the message of a failed run.
 *
 * @throws Problem 40043, 40044, 40045, 40055 after a timeout, 40056 for excessive output
 */
export function renderTemplate(
  template: string,
  data: unknown,
  {
    errorPrefix,
    isExpired,
    environment,
  }: { errorPrefix: string; isExpired: () => boolean; environment: TemplateEnvironment },
): string {
  if (template.length > maxTemplateBytes) throw refuse('template_too_large');
  const text = template.replace(actionsAndEscapedBreaks, (matched) => (matched === '\\n' ? '\n' : matched));
  if (disallowed.test(text)) throw refuse('template_disallowed');
  const nodes = parse(text);
  try {
    const run = new TemplateRun({ maxLength: maxOutputLength, maxSteps, isExpired }, environment);
    return fromBytes(trimSpace(runTemplate(text, nodes, toValue(data), run)));
  } catch (cause) {
    if (cause instanceof ExecutionError) throw refuse('template_failed', `${errorPrefix}${cause.message}`, { cause });
    if (cause instanceof LimitError) throw refuse(cause.kind === 'time' ? 'template_timeout' : 'template_too_large');
    // Deeply nested data exhausts the stack.
    if (cause instanceof RangeError)
      throw refuse('template_failed', `${errorPrefix}the data are nested too deeply`, { cause });
    throw cause;
  }
}

function parse(text: string): readonly Node[] {
  try {
    return parseTemplate(text, isFunction);
  } catch (cause) {
    if (cause instanceof TemplateSyntaxError) throw refuse('template_unparsable', cause.message, { cause });
    throw cause;
  }
}
