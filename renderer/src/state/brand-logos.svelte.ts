import type { BrandLogo } from '../icons/brand-logo.ts';
import { loadBrandLogos } from '../icons/brands.ts';

/** Logos of other products, which are loaded when the first one is shown. */
class BrandLogos {
  #logos = $state.raw<Readonly<Record<string, BrandLogo>>>({});
  #isRequested = false;

  /** Returns a logo; undefined without one and until the logos are loaded. */
  find(name: string | undefined): BrandLogo | undefined {
    return name !== undefined && Object.hasOwn(this.#logos, name) ? this.#logos[name] : undefined;
  }

  /** Loads the logos. Without a connection, the views keep what they show in place of logos. */
  load(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    loadBrandLogos().then(
      (logos) => (this.#logos = logos),
      () => (this.#isRequested = false),
    );
  }
}

export const brandLogos = new BrandLogos();
