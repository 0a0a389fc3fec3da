import type { Text } from '../../contracts/text.ts';
import type { FormField } from '../../contracts/notify/forms.ts';
import type { DestinationUrl } from './url.ts';

/**
 * Location of a field in the URL: `secure` selects the scheme for TLS, `path` is the path as typed, `segment:0` its
 * first segment, `last` its last, `targets` the segments after the fixed ones as a list, `query:x` an argument and
 * `header:x` a request header.
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

/** Field of a form with its location in the URL. */
export interface FormFieldDefinition extends Pick<FormField, 'name' | 'kind'> {
  readonly label: Text;
  readonly location: FieldLocation;
  readonly required?: boolean;
  readonly help?: Text;
  readonly choices?: readonly (readonly [value: string, label: Text])[];
  readonly initial?: string | boolean;
}

/** Form of a destination kind. Its secret fields are masked in URLs. */
export interface FormDefinition {
  readonly about: Text;
  readonly fields: readonly FormFieldDefinition[];
  /** Number of path segments before the targets; default 0. */
  readonly fixedSegments?: number | ((url: DestinationUrl) => number);
  /** Locations of secrets, for schemes with several URL forms; default: those of the secret fields. */
  readonly secretLocations?: (url: DestinationUrl) => readonly FieldLocation[];
  /** Converts a stored URL to one with the locations of the fields, and back, for schemes whose parts move. */
  readonly unfold?: (url: DestinationUrl) => DestinationUrl;
  readonly fold?: (url: DestinationUrl) => DestinationUrl;
}

/** Returns the number of path segments before the targets. */
export function countFixedSegments({ fixedSegments = 0 }: FormDefinition, url: DestinationUrl): number {
  return typeof fixedSegments === 'number' ? fixedSegments : fixedSegments(url);
}
