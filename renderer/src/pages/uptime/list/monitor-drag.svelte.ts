import type { MonitorRow } from '../../../../../services/contracts/uptime/views.ts';
import type { OrderPlace } from '../monitors/order/monitor-order.ts';
import { findTargetGroups } from '../monitors/monitor-tree.ts';

/** Distance in px from which on a press is a drag, since a hand does not keep a mouse still. */
const tolerance = 6;

/** Group that a dragged monitor would be moved to; null for the top level. */
type DropTarget = number | null;

interface Press {
  readonly id: number;
  readonly x: number;
  readonly y: number;
}

interface DragOptions {
  readonly rows: () => readonly MonitorRow[];
  readonly drop: (id: number, target: DropTarget) => void;
  readonly order: (id: number, place: OrderPlace) => void;
}

/**
 * Drag of a monitor into a group, or to another position in its group, by mouse. Elements with `data-monitor` are drop targets: a group itself, and its
 * members for their group; `data-monitor="out"` is the top level.
 */
export class MonitorDrag {
  /** ID of the monitor that is being dragged. */
  dragged = $state<number>();
  target = $state<DropTarget>();
  /** Position in the group that the dragged monitor would be moved to. */
  place = $state.raw<OrderPlace>();
  readonly #options: DragOptions;
  #press: Press | undefined;
  #justDropped = false;

  constructor(options: DragOptions) {
    this.#options = options;
  }

  /** True when the dragged monitor is in a group, so that it can be moved out of it. */
  get canLeaveGroup(): boolean {
    return this.#findRow(this.dragged)?.parent !== undefined;
  }

  start(id: number, { button, pointerType, clientX, clientY }: PointerEvent): void {
    this.#justDropped = false;
    // Touch scrolls the list; the menu of a monitor moves it there.
    if (button === 0 && pointerType === 'mouse') this.#press = { id, x: clientX, y: clientY };
  }

  move({ clientX, clientY }: PointerEvent): void {
    if (this.#press === undefined) return;
    const { id, x, y } = this.#press;
    if (this.dragged === undefined && Math.hypot(clientX - x, clientY - y) <= tolerance) return;
    this.dragged = id;
    const element = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-monitor]');
    this.target = this.#findTarget(id, element?.dataset['monitor']);
    this.place = this.target === undefined && element ? this.#findPlace(id, element, clientY) : undefined;
  }

  end(): void {
    const { dragged, target, place } = this;
    this.cancel();
    if (dragged === undefined) return;
    this.#justDropped = true;
    if (target !== undefined) this.#options.drop(dragged, target);
    else if (place !== undefined) this.#options.order(dragged, place);
  }

  cancel(): void {
    this.#press = undefined;
    this.dragged = undefined;
    this.target = undefined;
    this.place = undefined;
  }

  /** Returns true for the click that follows a drag, which opens no monitor. */
  takeClick(): boolean {
    const isOfDrag = this.#justDropped;
    this.#justDropped = false;
    return isOfDrag;
  }

  #findTarget(id: number, name: string | undefined): DropTarget | undefined {
    if (name === undefined) return undefined;
    const current = this.#findRow(id)?.parent ?? null;
    if (name === 'out') return current === null ? undefined : null;
    const row = this.#findRow(Number(name));
    const group = row?.type === 'group' && row.id !== id ? row.id : row?.parent;
    if (group === undefined || group === current) return undefined;
    const isAllowed = findTargetGroups(this.#options.rows(), [id]).some((one) => one.id === group);
    return isAllowed ? group : undefined;
  }

  /** Finds the position before or after another member of the same group. */
  #findPlace(id: number, element: HTMLElement, y: number): OrderPlace | undefined {
    const row = this.#findRow(Number(element.dataset['monitor']));
    if (row?.parent === undefined || row.id === id || row.parent !== this.#findRow(id)?.parent) return undefined;
    const { top, height } = (element.firstElementChild ?? element).getBoundingClientRect();
    return { id: row.id, isAfter: y > top + height / 2 };
  }

  #findRow(id: number | undefined): MonitorRow | undefined {
    return this.#options.rows().find((row) => row.id === id);
  }
}
