import { parsePriority } from '../priority.ts';
import { refuse } from '../refusals.ts';
import type { MessageTemplate } from './built-in.ts';
import type { Surroundings } from './run.ts';
import { readTemplateData, renderTemplate } from './render.ts';

/** What a request brings for its templates; with `inline` the texts are templates themselves. */
interface Written {
  readonly template: MessageTemplate | 'inline';
  readonly title: string;
  readonly message: string;
  readonly priority: string;
}

/** Under which a template runs. */
interface Conditions {
  readonly messageSizeLimit: number;
  readonly expired: () => boolean;
  readonly surroundings: Surroundings;
}

/** The peer names this parameter in the errors of all three. */
const inlinePlace = 'template priority query parameter: ';

/**
 * Makes a message of a JSON body by templates.
 *
 * @throws Problem 40007 for a priority that is none, 40041 for texts over the limit, 40042 to 40056
 */
export function renderMessage(
  body: string,
  written: Written,
  { messageSizeLimit, expired, surroundings }: Conditions,
): { readonly title: string; readonly message: string; readonly priority: number | undefined } {
  const data = readTemplateData(body);
  const inline = written.template === 'inline';
  const template: MessageTemplate = written.template === 'inline' ? written : written.template;
  const place = inline ? inlinePlace : '';
  const render = (text: string | undefined): string =>
    text === undefined || text === '' ? '' : renderTemplate(text, data, { place, expired, surroundings });
  const message = render(template.message);
  const title = template.title === undefined ? written.title : render(template.title);
  const priority = parsePriority(render(template.priority));
  for (const text of [message, title]) {
    if (new TextEncoder().encode(text).length > messageSizeLimit) throw refuse('rendered_too_large');
  }
  return { title, message, priority };
}
