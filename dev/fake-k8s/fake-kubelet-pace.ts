/** How long what a kubelet does takes, in ms. */
export interface KubeletPace {
  /** From a pod that is placed to its sandbox. */
  createMs: number;
  /** Until a container that runs is seen to. */
  noticeMs: number;
  /** From the end of the containers to the phase that says so. */
  settleMs: number;
  /** From the end of a pod that is deleted until it is gone. */
  removeMs: number;
  /** How long the failure of a pull shows, before and between back-offs. */
  pullErrorMs: number;
  pullBackOffMs: number;
  /** Before what is missing is looked for again. */
  retryMs: number;
}

export const PACE: KubeletPace = {
  ...{ createMs: 20, noticeMs: 20, settleMs: 40, removeMs: 20 },
  ...{ pullErrorMs: 300, pullBackOffMs: 300, retryMs: 200 },
};
