import { gatewayChanged } from '../../../../../services/contracts/gateway/api.ts';
import {
  certificateApi,
  type PublicCertificateState,
} from '../../../../../services/contracts/gateway/certificate-api.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** State of the certificate of a public authority. */
export class CertificateState extends Loadable {
  current = $state.raw<PublicCertificateState>();

  /** Loads the state and follows its changes until the returned function is called. */
  observe(): () => void {
    void this.load();
    const load = (): void => void this.load();
    const ends = [
      live.on(gatewayChanged, load),
      live.onReset(load),
      live.onLanguageChange([certificateApi.state], load),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(certificateApi.state),
      (state) => (this.current = state),
    );
  }

  /** Starts the next attempt now. @throws Problem */
  async retry(): Promise<void> {
    this.current = await call(certificateApi.retry);
  }
}
