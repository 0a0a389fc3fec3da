import { z } from 'zod';
import { templateProblem } from '../domain/template.ts';
import { titleExpression } from '../subscriptions/title-expression.ts';

/** Of a file name. */
export const template = z.string().superRefine((text, context) => {
  const message = templateProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
/** The same, or none. */
export const optionalTemplate = z.string().superRefine((text, context) => {
  const message = text === '' ? undefined : templateProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
/** A regular expression that titles are looked at with. */
export const expression = z.string().superRefine((text, context) => {
  try {
    titleExpression(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'Use a regular expression.' });
  }
});
/** A web address, or a path below the service's own. */
export const publicUrl = z
  .string()
  .max(2000)
  .regex(/^(https?:\/\/[^\s?#]+|[^\s:?#]*)$/, 'Use a web address without a query.');
/** The path of a file; empty: none. */
export const file = z.string().max(4096).default('');
/** An absolute path; empty: the usual one. */
export const folder = z
  .string()
  .max(4096)
  .regex(/^($|[/\\]|[A-Za-z]:[/\\])/, 'Use an absolute path.');
/** Of pages that may ask from elsewhere. */
export const origin = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/i,
    'Use * or an origin such as https://app.example.org, without a path.',
  );

/** Of subtitles. */
export const language = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9.*-]{0,34}$/, 'Use a language such as en, or a pattern such as en.*');
/** Of yt-dlp, as its settings file has them. What is not understood is left out and reported, and stops nothing. */
export const options = z.record(z.string(), z.unknown());
/** A web address without a query. */
export const webAddress = z.string().regex(/^https?:\/\/[^\s?#]+$/, 'Use a web address without a query.');
