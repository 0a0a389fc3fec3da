import type { Log } from '../../services/contracts/service.ts';
import type { Updates } from '../desktop/updates.ts';
import type { ElectronApi } from './electron.ts';
import type { HostConnection } from './host-connection.ts';
import { createErrorHandler } from './host-log.ts';
import type { MenuActions, PreferenceActions } from './menu.ts';

export interface MenuDependencies {
  readonly parts: Pick<ElectronApi, 'app' | 'clipboard'>;
  readonly connection: Pick<HostConnection, 'host'>;
  readonly preferences: PreferenceActions;
  readonly updates: Updates;
  /** Opens a path of the app in the window. */
  readonly open: (path: string) => void;
  readonly log: Log;
}

/** Creates the actions of the tray menu. */
export function createMenuActions(dependencies: MenuDependencies): MenuActions {
  const { connection, preferences, updates, open, log } = dependencies;
  const { app, clipboard } = dependencies.parts;
  const warn = (message: string): ((error: unknown) => void) => createErrorHandler(log, message);
  return {
    open,
    services: {
      turn: (id, on) => void connection.host?.ask('turn', { id, on }).catch(warn('a service could not be switched')),
      restart: (id) => void connection.host?.ask('restart', id).catch(warn('a service could not be started')),
      startAgain: () => connection.host?.restart(),
    },
    preferences,
    copy: (text) => void clipboard.writeText(text).catch(warn('an address could not be copied')),
    pause: (until) => void connection.host?.ask('pause', until).catch(warn('popups could not be paused')),
    checkForUpdate: () => void updates.check(),
    quit: () => app.quit(),
  };
}
