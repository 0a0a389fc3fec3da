import * as m from '#messages/engine-texts';
import type { EngineSpec } from '../../contracts/control/engine-spec.ts';
import { apprise } from './pins.ts';

/** Python library that delivers to services that are not native in Homeport. */
export const engine: EngineSpec = {
  name: 'apprise',
  title: 'Apprise',
  purpose: m.apprisePurpose,
  absence: m.appriseAbsence,
  removal: m.appriseRemoval,
  optional: true,
  path: {
    setting: 'apprisePath',
    variable: 'APPRISE_PATH',
    description: m.apprisePath,
  },
  // Older releases have an incompatible plugin interface.
  version: { arguments: ['--version'], pattern: /^Apprise v(\d+\.\d+[.\w]*)$/, oldest: '1.9' },
  python: {
    module: 'apprise',
    ...apprise,
    run: "-c 'from apprise.cli import main; main()'",
    without: m.appriseWithoutPython,
    importedOnly: true,
  },
  location: { win32: 'apprise.cmd' },
  sources: [{ from: 'python' }],
};
