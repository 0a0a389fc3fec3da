import { appendLine, replaceLine, removeLine } from '../domain/edit-text.ts';
import { removeYamlDestination, appendYamlDestination, replaceYamlDestination } from '../domain/edit-yaml.ts';
import type { Entry } from './read-key.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';

type Tags = readonly string[];

/** Returns the configuration with an additional destination at its end. */
export function addEntry({ format, text }: WrittenConfiguration, url: string, tags: Tags): WrittenConfiguration {
  return { format, text: format === 'yaml' ? appendYamlDestination(text, url, tags) : appendLine(text, url, tags) };
}

/** Returns the configuration with another URL or other tags for one destination. */
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

/** Returns the configuration without one destination. */
export function removeEntry({ format, text }: WrittenConfiguration, { line, path = [] }: Entry): WrittenConfiguration {
  return { format, text: format === 'yaml' ? removeYamlDestination(text, path) : removeLine(text, line) };
}
