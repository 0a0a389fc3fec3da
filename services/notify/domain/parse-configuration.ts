import { parseTextConfiguration, type Configuration, type ConfigurationFormat } from './configuration.ts';
import { parseYamlConfiguration } from './yaml-configuration.ts';

/** Reads a configuration as it is written down. */
export function parseConfiguration(text: string, format: ConfigurationFormat): Configuration {
  return format === 'yaml' ? parseYamlConfiguration(text) : parseTextConfiguration(text);
}

/** The format a text is meant in: YAML begins its lines with the words of that format, TEXT never does. */
export function guessFormat(text: string): ConfigurationFormat {
  return /^(version|urls|groups|include)\s*:(\s|$)/m.test(text) ? 'yaml' : 'text';
}
