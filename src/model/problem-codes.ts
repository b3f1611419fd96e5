import { HOST_PROBLEMS } from './host-problem-codes.js'
import type { ProblemKind } from './problem-kind.js'

/** What can be wrong with files and objects, before any address is placed. */
export const INPUT_PROBLEMS = {
  UnreadableInput: {
    severity: 'error',
    meaning: 'A file cannot be read or parsed. The command fails: half of an intent would look like a removal of the rest.',
    remedy: 'Mend the file, then run the command again; nothing was written.',
  },
  EmptyInput: {
    severity: 'warning',
    meaning: 'A file or a folder holds no object.',
    remedy: 'Remove the file, or write the objects it should hold.',
  },
  InvalidObject: {
    severity: 'error',
    meaning:
      'An object does not agree with its schema, or a selector or a name in it is wrong. It is a warning where only state of the cluster, such as a status or a pod, is malformed.',
    remedy: 'Correct the field that is named; the object is left out until then.',
  },
  DuplicateObject: {
    severity: 'error',
    meaning: 'Two objects of one kind and name have different content, so none of them can be taken.',
    remedy: 'Keep one of the objects; their addresses are placed when only one is left.',
  },
  UnknownField: {
    severity: 'warning',
    meaning: 'A field is in no schema. The API server would drop it without a word.',
    remedy: 'Correct the spelling of the field, or remove it.',
  },
  NoEgressIP: {
    severity: 'warning',
    meaning: 'spec.egressIPs is empty: the object asks for no address. The API server takes it, and nothing comes of it.',
    remedy: 'Write at least one address, or remove the object.',
  },
  InvalidNode: {
    severity: 'warning',
    meaning: 'An annotation or the status of a node is malformed. What can be read of it still counts as an address of the host.',
    remedy: 'Correct the annotation; the node hosts nothing until then.',
  },
  StatusInIntent: {
    severity: 'warning',
    meaning: 'An intent file holds the status of an EgressIP, which is state of the cluster.',
    remedy: 'Remove status from the intent file; it is read from the topology.',
  },
  MarkInIntent: {
    severity: 'warning',
    meaning: 'An intent file holds the annotation k8s.ovn.org/egressip-mark, which is state of the cluster.',
    remedy: 'Remove the annotation from the intent file; it is read from the topology and the lock.',
  },
  UnknownNode: {
    severity: 'error',
    meaning: 'A node that is to be drained or to count as down, or that the Cluster object names, is not in the topology.',
    remedy: 'Correct the name of the node on the command line.',
  },
  UnknownNetworkId: {
    severity: 'warning',
    meaning:
      'No input says the id of a primary user-defined network, from which its masquerade addresses and marks follow. Its ports are closed.',
    remedy: 'Add the NetworkAttachmentDefinition of the network to the topology; it carries k8s.ovn.org/network-id.',
  },
  DuplicateNetworkId: {
    severity: 'error',
    meaning: 'Two primary user-defined networks have one id: replies to pods of one would reach the other. The ports of both are closed.',
    remedy: 'Correct k8s.ovn.org/network-id of the NetworkAttachmentDefinitions, or remove the objects of a network that is gone.',
  },
  MasqueradeSubnetTooSmall: {
    severity: 'error',
    meaning:
      'A network needs a masquerade address that lies beyond the end of the masquerade subnet. It is a warning where no input says the subnet and the default is assumed.',
    remedy: 'Use a larger masquerade subnet, for example 169.254.0.0/17 and fd69::/112.',
  },
  MasqueradeSubnetChange: {
    severity: 'warning',
    meaning:
      'Nodes have another masquerade subnet than the Cluster object or the Network operator says. When it changes, the neighbors, host addresses, routes and flows of masquerade addresses move, and connections between the hosts and services are interrupted.',
    remedy: 'Plan the change for a time when the interruption does no harm, or correct the subnet.',
  },
  GatewayModeConflict: {
    severity: 'error',
    meaning:
      'Two of Cluster.spec.gatewayMode, routingViaHost of the Network operator and the ConfigMap gateway-mode-config contradict. The first in that order is used.',
    remedy: 'Let all of them say the same, or remove the one that is not meant. Releases from 4.10 on do not need the ConfigMap.',
  },
  GatewayModeChange: {
    severity: 'warning',
    meaning:
      'Nodes are in another gateway mode than the cluster is configured to. They are rendered for the configured one; changing the mode interrupts their ingress and egress traffic.',
    remedy: 'Plan the change for a time when the interruption does no harm, or correct the gateway mode.',
  },
} as const satisfies Record<string, ProblemKind>

/** Why an address is on no node, or stays on a node where it should not be. */
export const PLACEMENT_PROBLEMS = {
  InvalidAddress: {
    severity: 'error',
    meaning: 'A text in spec.egressIPs is not an address.',
    remedy: 'Write a plain IPv4 or IPv6 address, without prefix length, zone or leading zeros.',
  },
  DuplicateInObject: {
    severity: 'warning',
    meaning: 'One address stands twice in one object, maybe in two spellings.',
    remedy: 'Remove the second spelling.',
  },
  AddressConflict: {
    severity: 'error',
    meaning: 'A host of the cluster has the address as its own. It is a warning where a node already holds the address: that one keeps it.',
    remedy: 'Choose an address that no host has.',
  },
  AddressHeldByOther: {
    severity: 'error',
    meaning:
      'Two objects ask for one address. It belongs to the one whose status names it, then to the older one, then to the first by name.',
    remedy: 'Remove the address from one of the two objects.',
  },
  ReservedAddress: {
    severity: 'error',
    meaning:
      'The address is the first or the last one of a hosting network, a next hop, or in a pod, service, join, transit or masquerade subnet. It is a warning where a node already holds it.',
    remedy: 'Choose an address outside the reserved ones.',
  },
  NoMatchingNode: {
    severity: 'error',
    meaning: 'egressNodeSelector matches no node.',
    remedy: 'Label a node so that egressNodeSelector matches it, or correct the selector.',
  },
  NoAvailableNode: {
    severity: 'error',
    meaning: 'Nodes match, but none is Ready, reachable, well-formed and neither drained nor down.',
    remedy: 'Bring back one of the matching nodes, or let the selector match others.',
  },
  NoHostingNetwork: {
    severity: 'error',
    meaning: 'No available node has a network that contains the address.',
    remedy: 'Choose an address in a network of a matching node.',
  },
  CapacityExhausted: {
    severity: 'error',
    meaning:
      'Every node that could host the address is full. It is a warning about a node that holds more than its capacity: nothing is taken from it for that.',
    remedy: 'Let the selector match more nodes, or remove addresses from the full ones.',
  },
  AntiColocation: {
    severity: 'error',
    meaning: 'Every node that could host the address holds another one of the same object.',
    remedy: 'Let the selector match at least as many nodes as the object has addresses.',
  },
  DrainIncomplete: {
    severity: 'error',
    meaning: 'An address of a drained node finds no other node and stays.',
    remedy: 'Make room on another node, or let the selector match more of them, then drain again.',
  },
  InvalidMark: {
    severity: 'error',
    meaning: 'The annotation k8s.ovn.org/egressip-mark is no mark.',
    remedy: 'Remove the annotation k8s.ovn.org/egressip-mark; a mark is a number from 50000 to 55000.',
  },
  DuplicateMark: {
    severity: 'error',
    meaning: 'Two objects have one mark: packets of both would leave with the same address.',
    remedy: 'Remove the annotation k8s.ovn.org/egressip-mark from one of the objects.',
  },
  MarkExhausted: {
    severity: 'error',
    meaning: 'No mark is left for an object that needs one. Its addresses are placed all the same.',
    remedy: 'Remove EgressIP objects that are no longer needed; 5,001 marks exist.',
  },
} as const satisfies Record<string, ProblemKind>

/** What is worth knowing although it keeps no address from its node. */
export const ADVICE_PROBLEMS = {
  OverlappingSelection: {
    severity: 'error',
    meaning: 'Pods are selected by two objects. Only one can decide their address: the older object, then the first by name.',
    remedy: 'Change the selectors so that one object alone selects the pods.',
  },
  UnsupportedNetwork: {
    severity: 'error',
    meaning:
      'Pods of a primary user-defined network use an address of a secondary network, or that network is on the external bridge: they would leave with the wrong source.',
    remedy: 'Choose an address of the primary network, or select pods of the default network only.',
  },
  SelectorMatchesNoNamespace: {
    severity: 'warning',
    meaning: 'namespaceSelector matches none of the namespaces, so no pod uses the addresses.',
    remedy: 'Correct namespaceSelector, or label the namespaces that are meant.',
  },
  SelectorMatchesEverything: {
    severity: 'warning',
    meaning:
      'namespaceSelector is empty and matches every namespace, or egressNodeSelector is and matches every node, all of which are then probed too.',
    remedy: 'Name what is meant in the selector.',
  },
  SelectorMatchesNoPod: {
    severity: 'info',
    meaning: 'The selectors match namespaces, but at present no pod that runs with an address of its own.',
    remedy: 'Compare podSelector with the labels of the pods, unless they are yet to come.',
  },
  SelectorNotEnforced: {
    severity: 'warning',
    meaning:
      'egressNodeSelector may have no effect: the CRD of the cluster does not have the field and drops it, or ovnkube decides the placement and nothing shows that it knows the field.',
    remedy:
      'Update the EgressIP CRD, then ovnkube, and add the CRD to the topology; until then the label k8s.ovn.org/egress-assignable decides.',
  },
  MissingFamily: {
    severity: 'warning',
    meaning:
      'Pods have an address of a family for which the object has none: that traffic leaves with the address of its node. Two objects, one for each family, do not make a dual-stack pair.',
    remedy: 'Add an address of that family to the object; if it is meant so, set MissingFamily to off in Cluster.spec.policy.',
  },
  NoGateway: {
    severity: 'warning',
    meaning:
      'A node holds an egress IP, but no input says which bridge its traffic leaves by: it has no k8s.ovn.org/l3-gateway-config, or one that says it has no gateway. Nothing is rendered for its host.',
    remedy:
      'ovnkube-node writes k8s.ovn.org/l3-gateway-config when it starts on the node: see there why it is missing, then take the topology again with kubectl get nodes -o yaml.',
  },
  OverlappingNetworks: {
    severity: 'warning',
    meaning: 'An address lies in several networks of its node. The primary one hosts it, else the one with the longest prefix.',
    remedy: 'Choose an address that lies in one network of the node, or make sure that the right one hosts it.',
  },
  CapacityUnknown: {
    severity: 'warning',
    meaning: 'A node of a cloud does not say how many egress IPs it can take. It counts as having no limit, and the cloud may refuse some.',
    remedy: 'See why cloud-network-config-controller does not write the capacity into cloud.network.openshift.io/egress-ipconfig.',
  },
  ProviderLimit: {
    severity: 'warning',
    meaning:
      'A node holds, or says it can take, more egress IPs than its cloud allows: 100 on a GCP node, 256 on a network interface of Azure.',
    remedy: 'Let the selectors match more nodes.',
  },
  FloatingIPLoss: {
    severity: 'warning',
    meaning:
      'On OpenStack an address that leaves its node loses its Neutron port, and with it a floating IP; while a floating IP is bound, it does not leave at all.',
    remedy: 'Unassign the floating IP from the reservation port first, and assign it to the new port after the move.',
  },
  UnsupportedPlatform: {
    severity: 'warning',
    meaning:
      'OpenShift does not support this here: egress IPs on control-plane nodes of AWS, or on secondary networks of clouds and hypervisors.',
    remedy: 'Let egressNodeSelector match other nodes.',
  },
  Imbalance: {
    severity: 'info',
    meaning: 'Nodes hold unequal numbers of egress IPs although addresses could move. None does without being asked.',
    remedy: 'Run egretta plan --rebalance to see which addresses would move; without it none does.',
  },
} as const satisfies Record<string, ProblemKind>

/** Every code with its default severity, its meaning and its remedy. */
export const PROBLEMS = { ...INPUT_PROBLEMS, ...PLACEMENT_PROBLEMS, ...ADVICE_PROBLEMS, ...HOST_PROBLEMS } as const
