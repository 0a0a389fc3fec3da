import type { FormField } from '../../contracts/notify/forms.ts';
import type { DestinationUrl } from './url.ts';

/**
 * Where a field stands in the URL: `secure` chooses the scheme for TLS, `path` is the path as typed, `segment:0` its first
 * segment, `last` its last, `targets` the segments after the fixed ones as a list, `query:x` an argument and `header:x` a request header.
 */
export type FieldLocation =
  | 'secure'
  | 'user'
  | 'password'
  | 'host'
  | 'port'
  | 'path'
  | 'last'
  | 'targets'
  | `segment:${number}`
  | `query:${string}`
  | `header:${string}`;

/** One field of a form, with its place in the URL. */
export interface FormFieldDefinition extends Pick<FormField, 'name' | 'label' | 'kind'> {
  readonly location: FieldLocation;
  readonly required?: boolean;
  readonly help?: string;
  readonly choices?: readonly (readonly [string, string])[];
  readonly initial?: string | boolean;
}

/** The described form of a kind of destination: data beside its code. Its secrets are what is masked in a URL. */
export interface FormDefinition {
  readonly about: string;
  readonly fields: readonly FormFieldDefinition[];
  /** Segments of the path that stand before the targets; default 0. */
  readonly fixedSegments?: number | ((url: DestinationUrl) => number);
  /** Where a URL holds secrets, for schemes that come in several shapes; default where the form has them. */
  readonly secretLocations?: (url: DestinationUrl) => readonly FieldLocation[];
  /** For schemes whose parts move: from the URL as stored to one whose parts are where the fields say, and back. */
  readonly unfold?: (url: DestinationUrl) => DestinationUrl;
  readonly fold?: (url: DestinationUrl) => DestinationUrl;
}

/** How many segments of the path stand before the targets. */
export function countFixedSegments({ fixedSegments = 0 }: FormDefinition, url: DestinationUrl): number {
  return typeof fixedSegments === 'number' ? fixedSegments : fixedSegments(url);
}
