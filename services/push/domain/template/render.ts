import { refuse } from '../refusals.ts';
import { fromBytes, trimSpace } from './bytes.ts';
import { runTemplate } from './evaluate.ts';
import { BoundsFault, RunFault } from './errors.ts';
import { isFunction } from './functions/functions.ts';
import { parseTemplate } from './parse.ts';
import { Run, type Surroundings } from './run.ts';
import { SyntaxFault, type Node } from './syntax.ts';
import { valueOf } from './values.ts';

/** What the peer allows: bytes of a template and characters of what comes of it. */
const longestTemplate = 32 * 1024;
const longestOutput = 1024 * 1024;
/** Bytes of a JSON body that templates may be run on. */
export const templateBodyLimit = 128 * 1024;
const mostSteps = 1_000_000;

/** Templates inside templates, and calls of what the data hold. */
const disallowed = /\{\{-?\s*(?:call|template|define|block)\b/;
/** Actions, and line breaks that a header can only spell. */
const writtenBreaks = /\{\{[^]*?\}\}|\\n/g;

/**
 * The data of a template.
 *
 * @throws Problem 40042
 */
export function readTemplateData(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw refuse('template_not_json', undefined, { cause });
  }
}

/**
 * What a template makes of the data, trimmed. `place` begins the message of a run that failed.
 *
 * @throws Problem 40043, 40044, 40045, 40055 for one that takes too long, 40056 for what grows too large.
 */
export function renderTemplate(
  template: string,
  data: unknown,
  { place, expired, surroundings }: { place: string; expired: () => boolean; surroundings: Surroundings },
): string {
  if (template.length > longestTemplate) throw refuse('template_too_large');
  const text = template.replace(writtenBreaks, (found) => (found === '\\n' ? '\n' : found));
  if (disallowed.test(text)) throw refuse('template_disallowed');
  const nodes = parse(text);
  try {
    const run = new Run({ characters: longestOutput, steps: mostSteps, expired }, surroundings);
    return fromBytes(trimSpace(runTemplate(text, nodes, valueOf(data), run)));
  } catch (cause) {
    if (cause instanceof RunFault) throw refuse('template_failed', `${place}${cause.message}`, { cause });
    if (cause instanceof BoundsFault) throw refuse(cause.kind === 'time' ? 'template_timeout' : 'template_too_large');
    // The stack ends before JSON does.
    if (cause instanceof RangeError)
      throw refuse('template_failed', `${place}the data are nested too deeply`, { cause });
    throw cause;
  }
}

function parse(text: string): readonly Node[] {
  try {
    return parseTemplate(text, isFunction);
  } catch (cause) {
    if (cause instanceof SyntaxFault) throw refuse('template_unparsable', cause.message, { cause });
    throw cause;
  }
}
