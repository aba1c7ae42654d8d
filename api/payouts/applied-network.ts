/** The network whose new tip is being applied. */
export interface AppliedNetwork {
  /** Id of its row in `networks`. */
  networkId: string;
  networkName: string;
}
