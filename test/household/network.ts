import { day, type House, type Moment } from './moment.ts';

/** What the phones and the television of the home reach. */
export async function network({ ask }: House): Promise<readonly Moment[]> {
  const settings = { shared: ['control', 'downloads'], open: ['push', 'addons', 'git'], name: 'nas' };
  return [{ ago: 29 * day, happens: () => ask('PATCH', '/settings/gateway', settings) }];
}
