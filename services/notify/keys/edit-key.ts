import { appendLine, replaceLine, removeLine } from '../domain/edit-text.ts';
import { removeYamlDestination, appendYamlDestination, replaceYamlDestination } from '../domain/edit-yaml.ts';
import type { Entry } from './read-key.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';

type Tags = readonly string[];

/** The configuration with a destination more at its end. */
export function addEntry({ format, text }: WrittenConfiguration, url: string, tags: Tags): WrittenConfiguration {
  return { format, text: format === 'yaml' ? appendYamlDestination(text, url, tags) : appendLine(text, url, tags) };
}

/** The configuration with another address or other tags for one of its destinations. */
export function changeEntry(
  { format, text }: WrittenConfiguration,
  { line, path = [] }: Entry,
  url: string,
  tags: Tags,
): WrittenConfiguration {
  return {
    format,
    text: format === 'yaml' ? replaceYamlDestination(text, path, url, tags) : replaceLine(text, line, url, tags),
  };
}

/** The configuration without one of its destinations. */
export function removeEntry({ format, text }: WrittenConfiguration, { line, path = [] }: Entry): WrittenConfiguration {
  return { format, text: format === 'yaml' ? removeYamlDestination(text, path) : removeLine(text, line) };
}
