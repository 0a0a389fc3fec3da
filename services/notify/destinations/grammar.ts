import type { FormField } from '../../contracts/notify-forms.ts';
import type { DestinationUrl } from './url.ts';

/**
 * Where a field stands in the URL: `secure` chooses the scheme for TLS, `targets` is the path as a list, `path` is the path
 * as typed, `query:x` an argument and `header:x` a request header.
 */
export type FieldPlace =
  'secure' | 'user' | 'password' | 'host' | 'port' | 'path' | 'targets' | `query:${string}` | `header:${string}`;

/** One field of a form, with its place in the URL. */
export interface GrammarField extends Pick<FormField, 'name' | 'label' | 'kind'> {
  readonly at: FieldPlace;
  readonly required?: boolean;
  readonly help?: string;
  readonly choices?: readonly (readonly [string, string])[];
  readonly initial?: string | boolean;
}

/** The described form of a kind of destination: data beside its code. */
export interface Grammar {
  readonly about: string;
  readonly fields: readonly GrammarField[];
  /** For schemes whose parts move: from the URL as stored to one whose parts are where the fields say, and back. */
  readonly unfold?: (url: DestinationUrl) => DestinationUrl;
  readonly fold?: (url: DestinationUrl) => DestinationUrl;
}

/** The fields of kinds that show text in one of several formats. */
export const formatField: GrammarField = {
  name: 'format',
  label: 'Format',
  kind: 'choice',
  at: 'query:format',
  help: 'How the text is written when it gets there.',
  choices: [
    ['', 'Plain text'],
    ['markdown', 'Markdown'],
    ['html', 'HTML'],
  ],
};
