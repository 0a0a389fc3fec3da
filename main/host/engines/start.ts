import { spawn } from 'node:child_process';
import { hasProcessGroups } from '../../../services/kit/platform/process-tree.ts';
import type { Engines } from '../../../services/contracts/control/engines.ts';
import { buildCleanEnvironment } from '../../../services/kit/clean-environment.ts';

/** See {@link Engines.start}. */
export const startLibrary: Engines['start'] = ({ python, path }, { script, folder, environment }) => {
  // Isolated, except for a package that is only in a user's own folder.
  const isolated = path === '' ? [] : ['-I'];
  // The script may run our own executable; Electron's runs as Node only with this variable.
  const electron = process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
  const utf8 = { PYTHONIOENCODING: 'utf-8', PYTHONUTF8: '1', PYTHONUNBUFFERED: '1', PYTHONSAFEPATH: '1' };
  return spawn(python, [...isolated, '-u', '-c', script, path], {
    cwd: folder,
    env: buildCleanEnvironment({ ...utf8, ...electron, ...environment }),
    detached: hasProcessGroups(),
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
};
