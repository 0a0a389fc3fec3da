import { parseTextConfiguration, type Configuration, type ConfigurationFormat } from './configuration.ts';
import { parseYamlConfiguration } from './yaml-configuration.ts';

/** Parses a configuration in its format. */
export function parseConfiguration(text: string, format: ConfigurationFormat): Configuration {
  return format === 'yaml' ? parseYamlConfiguration(text) : parseTextConfiguration(text);
}

/** Returns the format of a text: only YAML has lines that begin with these keys. */
export function guessFormat(text: string): ConfigurationFormat {
  return /^(version|urls|groups|include)\s*:(\s|$)/m.test(text) ? 'yaml' : 'text';
}
