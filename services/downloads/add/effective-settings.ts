import type { Settings } from '../settings.ts';
import type { OptionFiles } from './option-files.ts';

/** Returns the current settings with the options of the option files, which may change as well. */
export function withOptions(current: Settings, optionFiles: OptionFiles): Settings {
  const options = ['ytdlOptions', 'ytdlPresets'] as const;
  return new Proxy(current, {
    get: (target, name: keyof Settings) =>
      name === options[0] ? optionFiles.options : name === options[1] ? optionFiles.presets : target[name],
  });
}
