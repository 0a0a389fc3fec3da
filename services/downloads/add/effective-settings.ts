import type { Settings } from '../settings.ts';
import type { OptionFiles } from './option-files.ts';

/** Returns the current settings with the options of the option files, which may change as well. */
export function withOptions(current: Settings, optionFiles: OptionFiles): Settings {
  return new Proxy(current, {
    get(target, name: keyof Settings) {
      if (name === 'ytdlOptions') return optionFiles.options;
      return name === 'ytdlPresets' ? optionFiles.presets : target[name];
    },
  });
}
