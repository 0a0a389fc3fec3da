import { openConfig } from '../../../main/host/config/file-config.ts';
import { descriptors } from './fixture.ts';

/** Opens or changes the settings of a folder and dies like in a power failure, before the given step of writing. */
const [dataDir = '', action, killAt] = process.argv.slice(2);
let steps = 0;
const silent = (): void => undefined;

const config = await openConfig({
  dataDir,
  descriptors,
  environment: {},
  commandLine: {},
  log: { debug: silent, info: silent, warn: silent, error: silent },
  step: () => {
    steps += 1;
    if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  },
});
if (action === 'change') await config.change('push', { retention: 2 });
