import * as m from '#messages/downloads-problems';
import { z } from 'zod';
import { findTemplateProblem } from '../domain/template.ts';
import { parseTitleExpression } from '../domain/title-expression.ts';

/** Template of a file name. */
export const template = z.string().superRefine((text, context) => {
  const message = findTemplateProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
/** Template of a file name, or an empty text. */
export const optionalTemplate = z.string().superRefine((text, context) => {
  const message = text === '' ? undefined : findTemplateProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
/** Regular expression for titles. */
export const expression = z.string().superRefine((text, context) => {
  try {
    parseTitleExpression(text);
  } catch {
    context.addIssue({ code: 'custom', message: m.expressionRequired() });
  }
});
/** Web address, or a path relative to the service's address. */
export const publicUrl = z
  .string()
  .max(2000)
  .regex(/^(https?:\/\/[^\s?#]+|[^\s:?#]*)$/, { error: m.webAddressRequired });
/** Path of a file, or an empty text. */
export const file = z.string().max(4096).default('');
/** Origin of a page that may send requests. */
export const origin = z.string().regex(/^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/i, { error: m.originRequired });

/** Language of subtitles. */
export const language = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.*-]{0,34}$/, { error: m.languageRequired });
/**
 * yt-dlp options in the notation of MeTube's option file. Options that are not understood are ignored and reported.
 */
export const options = z.record(z.string(), z.unknown());
/** Web address without a query. */
export const webAddress = z.string().regex(/^https?:\/\/[^\s?#]+$/, { error: m.webAddressRequired });
