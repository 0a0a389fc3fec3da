import { select } from 'd3-selection';
import { zoom, zoomIdentity, type ZoomBehavior, type ZoomTransform } from 'd3-zoom';

const [minScale, maxScale] = [0.1, 2];
const margin = 24;
/** Smallest scale at which names are readable. */
const minReadableScale = 0.5;
/** Distance in px that an arrow key moves the diagram. */
const keyStep = 60;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Visible part of the diagram: moved and scaled with pointer, touch, wheel and keyboard. */
export class Viewport {
  transform = $state.raw<ZoomTransform>(zoomIdentity);
  #element: SVGSVGElement | undefined;
  readonly #zoom: ZoomBehavior<SVGSVGElement, unknown> = zoom<SVGSVGElement, unknown>()
    .scaleExtent([minScale, maxScale])
    .on('zoom', (event: { readonly transform: ZoomTransform }) => {
      this.transform = event.transform;
      this.#refit = undefined;
    });
  /** Fits the diagram again when its frame changes; undefined once the diagram was moved or scaled. */
  #refit: (() => void) | undefined;

  /** Connects the diagram element. Returns the function that disconnects it. */
  attach(element: SVGSVGElement): () => void {
    this.#element = element;
    // A double click on a table must not zoom.
    select(element).call(this.#zoom).on('dblclick.zoom', null);
    const resizes = new ResizeObserver(() => this.#refit?.());
    resizes.observe(element);
    return () => {
      resizes.disconnect();
      select(element).on('.zoom', null);
      this.#element = undefined;
    };
  }

  /** Shows the whole diagram, or its beginning at a readable scale. */
  fit(size: Pick<Box, 'width' | 'height'>, isReadable = false): void {
    const { width, height } = size;
    const frame = this.#frame;
    if (this.#element === undefined || width === 0 || frame.width === 0) return;
    const complete = Math.min((frame.width - 2 * margin) / width, (frame.height - 2 * margin) / height, 1);
    const scale = Math.max(isReadable ? minReadableScale : minScale, complete);
    const x = Math.max(margin, (frame.width - width * scale) / 2);
    const y = Math.max(margin, (frame.height - height * scale) / 2);
    this.#apply(zoomIdentity.translate(x, y).scale(scale));
    this.#refit = () => this.fit(size, isReadable);
  }

  /** Centers a table at a readable scale. */
  center(box: Box): void {
    const frame = this.#frame;
    const scale = Math.max(minReadableScale, this.transform.k);
    const x = frame.width / 2 - (box.x + box.width / 2) * scale;
    const y = frame.height / 2 - (box.y + box.height / 2) * scale;
    this.#apply(zoomIdentity.translate(x, y).scale(scale));
  }

  /** Centers a table unless it is visible. */
  reveal(box: Box): void {
    const { k, x, y } = this.transform;
    const frame = this.#frame;
    const [left, top] = [box.x * k + x, box.y * k + y];
    const isVisible =
      left >= 0 && top >= 0 && left + box.width * k <= frame.width && top + box.height * k <= frame.height;
    if (!isVisible) this.center(box);
  }

  /** Scales the diagram around its center. */
  scaleBy(factor: number): void {
    if (this.#element !== undefined) this.#zoom.scaleBy(select(this.#element), factor);
  }

  /** Moves or scales by a key. Returns false for other keys. */
  press(key: string): boolean {
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [keyStep, 0],
      ArrowRight: [-keyStep, 0],
      ArrowUp: [0, keyStep],
      ArrowDown: [0, -keyStep],
    };
    const move = moves[key];
    if (move !== undefined && this.#element !== undefined) {
      const [x, y] = move;
      this.#zoom.translateBy(select(this.#element), x / this.transform.k, y / this.transform.k);
    } else if (key === '+' || key === '=') this.scaleBy(1.25);
    else if (key === '-') this.scaleBy(0.8);
    else return false;
    return true;
  }

  get #frame(): { readonly width: number; readonly height: number } {
    return this.#element?.getBoundingClientRect() ?? { width: 0, height: 0 };
  }

  #apply(transform: ZoomTransform): void {
    if (this.#element !== undefined) this.#zoom.transform(select(this.#element), transform);
  }
}
