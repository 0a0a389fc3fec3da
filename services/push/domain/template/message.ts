import { parsePriority } from '../priority.ts';
import { refuse } from '../refusals.ts';
import type { MessageTemplate } from './built-in.ts';
import type { TemplateEnvironment } from './run.ts';
import { parseTemplateData, renderTemplate } from './render.ts';

/** Request parameters for templates; with `inline`, the texts are templates themselves. */
export interface TemplateInput {
  readonly template: MessageTemplate | 'inline';
  readonly title: string;
  readonly message: string;
  readonly priority: string;
}

/** Limits and environment of a template. */
interface RenderOptions {
  readonly messageSizeLimit: number;
  readonly isExpired: () => boolean;
  readonly environment: TemplateEnvironment;
}

/** ntfy reports this parameter in the errors of all three templates. */
const inlineErrorPrefix = 'template priority query parameter: ';

/**
 * Renders a message from a JSON body with templates.
 *
 * @throws Problem 40007 for an invalid priority, 40041 for text above the limit, 40042 to 40056
 */
export function renderMessage(
  body: string,
  input: TemplateInput,
  { messageSizeLimit, isExpired, environment }: RenderOptions,
): { readonly title: string; readonly message: string; readonly priority: number | undefined } {
  const data = parseTemplateData(body);
  const isInline = input.template === 'inline';
  const template: MessageTemplate = input.template === 'inline' ? input : input.template;
  const errorPrefix = isInline ? inlineErrorPrefix : '';
  const render = (text: string | undefined): string =>
    text === undefined || text === '' ? '' : renderTemplate(text, data, { errorPrefix, isExpired, environment });
  const message = render(template.message);
  const title = template.title === undefined ? input.title : render(template.title);
  const priority = parsePriority(render(template.priority));
  for (const text of [message, title]) {
    if (new TextEncoder().encode(text).length > messageSizeLimit) throw refuse('rendered_too_large');
  }
  return { title, message, priority };
}
