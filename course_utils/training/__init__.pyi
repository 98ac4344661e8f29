from .resnet import UInt8ResNet50 as UInt8ResNet50
from .simple_cnn import SimpleCNN as SimpleCNN
from .simple_cnn import training_step as training_step
from .step_timing import train_with_monitoring as train_with_monitoring
