import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AttachmentFolder } from '../attachments/folder.ts';
import type { ConfigurationStore } from '../store/configurations.ts';
import { SingleFlight } from '../../kit/single-flight.ts';

/** Result of a write check. */
export interface WriteCheck {
  readonly configurations: boolean;
  readonly files: boolean;
}

/**
 * Returns a function that checks by writing whether configurations and files can be written. Simultaneous calls share
 * one check.
 */
export function createWriteCheck(
  { commit, log }: Pick<Context, 'commit' | 'log'>,
  { configurations, folder }: { readonly configurations: ConfigurationStore; readonly folder: AttachmentFolder },
): () => Promise<WriteCheck> {
  const canWriteConfigurations = async (): Promise<boolean> => {
    try {
      await commit((transaction) => configurations.probeWrite(transaction));
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      log.warn('configuration write failed', { error });
      return false;
    }
  };
  const checkAll = async (): Promise<WriteCheck> => {
    const [first, second] = await Promise.all([canWriteConfigurations(), folder.canWrite()]);
    return { configurations: first, files: second };
  };
  const flight = new SingleFlight(checkAll);
  return () => flight.run();
}
