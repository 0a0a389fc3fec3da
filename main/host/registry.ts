import type { ServiceDescriptor } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { mail } from '../../services/mail/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';

/** Every service of the app, in the order its pages list them. The one place that knows them all. */
export const registry: readonly ServiceDescriptor<any, any>[] = [downloads, notify, push, mail, inbox, control];
