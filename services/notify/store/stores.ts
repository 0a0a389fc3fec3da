import type { Context } from '../../contracts/service.ts';
import { AttachmentFolder } from '../attachments/folder.ts';
import type { Settings } from '../settings.ts';
import { AttachmentStore } from './attachments.ts';
import { ConfigurationStore } from './configurations.ts';
import { HealthStore } from './health.ts';
import { NotificationStore } from './notifications.ts';

/** Stores that several features use. */
export interface NotifyStores {
  readonly configurations: ConfigurationStore;
  readonly notifications: NotificationStore;
  readonly attachments: AttachmentStore;
  /** Files of the attachments. */
  readonly folder: AttachmentFolder;
  readonly health: HealthStore;
}

export function createStores(context: Context, settings: Readonly<Settings>): NotifyStores {
  const { db, singleHost, vault } = context;
  return {
    configurations: new ConfigurationStore(db, vault, singleHost),
    notifications: new NotificationStore(db),
    attachments: new AttachmentStore(db, () => settings.keptFilesBytes),
    folder: new AttachmentFolder(context),
    health: new HealthStore(context),
  };
}
