import type { EngineSpec } from '../../contracts/control/engine-spec.ts';
import { apprise } from './pins.ts';

/** Python library that delivers to services that are not native in Homeport. */
export const engine: EngineSpec = {
  name: 'apprise',
  title: 'Apprise',
  purpose: 'Reaches notification services that Homeport does not speak to by itself, such as IRC and SMS gateways.',
  absence:
    'Only needed for notification services that Homeport does not speak to by itself, such as IRC and SMS gateways.',
  removal: 'Notifications to services that need it wait until it is back.',
  optional: true,
  path: {
    setting: 'apprisePath',
    variable: 'APPRISE_PATH',
    description: 'The apprise program whose library serves further notification services.',
  },
  // Older releases have an incompatible plugin interface.
  version: { arguments: ['--version'], pattern: /^Apprise v(\d+\.\d+[.\w]*)$/, oldest: '1.9' },
  python: {
    module: 'apprise',
    ...apprise,
    run: "-c 'from apprise.cli import main; main()'",
    without: 'Apprise cannot run.',
    importedOnly: true,
  },
  location: { win32: 'apprise.cmd' },
  sources: [{ from: 'python' }],
};
