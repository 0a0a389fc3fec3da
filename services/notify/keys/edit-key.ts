import { withDestination, withLine, withoutLine } from '../domain/edit-text.ts';
import { withoutYamlDestination, withYamlDestination, withYamlEntry } from '../domain/edit-yaml.ts';
import type { Entry } from './read-key.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';

type Tags = readonly string[];

/** The configuration with a destination more at its end. */
export function addEntry({ format, text }: WrittenConfiguration, url: string, tags: Tags): WrittenConfiguration {
  return { format, text: format === 'yaml' ? withYamlDestination(text, url, tags) : withDestination(text, url, tags) };
}

/** The configuration with another address or other tags for one of its destinations. */
export function changeEntry(
  { format, text }: WrittenConfiguration,
  { line, path = [] }: Entry,
  url: string,
  tags: Tags,
): WrittenConfiguration {
  return { format, text: format === 'yaml' ? withYamlEntry(text, path, url, tags) : withLine(text, line, url, tags) };
}

/** The configuration without one of its destinations. */
export function removeEntry({ format, text }: WrittenConfiguration, { line, path = [] }: Entry): WrittenConfiguration {
  return { format, text: format === 'yaml' ? withoutYamlDestination(text, path) : withoutLine(text, line) };
}
